#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/owned_fd.h"
#include "http/client_fixture.h"
#include "support/scratch_dir.h"
#include "support/test_socket.h"

namespace holdfast::http {
namespace {

using support::HttpArrival;
using support::HttpPeer;
using support::HttpServer;
using testing::HasSubstr;
using testing::StartsWith;

constexpr size_t kLongBytes = 8u << 20;

// The server prints its port. It answers "/long" with many bytes, redirects "/to/URL" to that URL, and answers
// everything else with the Authorization header. It ends with its standard input.
constexpr std::string_view kServerScript = R"py(
import http.server, os, ssl, sys, threading
class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    def log_message(self, *args): pass
    def do_GET(self):
        body = b"x" * int(sys.argv[3]) if self.path == "/long" else str(self.headers["Authorization"]).encode()
        self.send_response(302 if self.path.startswith("/to/") else 200)
        self.send_header("Location", self.path[4:])
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain(sys.argv[1], sys.argv[2])
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
server.handle_error = lambda *args: None
threading.Thread(target=server.serve_forever, daemon=True).start()
print(server.server_port, flush=True)
sys.stdin.read()
os._exit(0)
)py";

// The server runs as long as this object exists.
class TlsServer {
 public:
  TlsServer(const support::ScratchDir& dir, const std::string& certificate, const std::string& key) {
    int in[2], out[2];
    EXPECT_EQ(::pipe2(in, O_CLOEXEC), 0);
    EXPECT_EQ(::pipe2(out, O_CLOEXEC), 0);
    input_ = OwnedFd(in[1]);
    const OwnedFd child_input(in[0]), child_output(out[1]);
    output_ = OwnedFd(out[0]);
    posix_spawn_file_actions_t actions;
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawn_file_actions_adddup2(&actions, child_input.get(), STDIN_FILENO);
    ::posix_spawn_file_actions_adddup2(&actions, child_output.get(), STDOUT_FILENO);
    std::string script = dir.Write("server.py", kServerScript);
    std::string length = std::to_string(kLongBytes);
    const char* argv[] = {"python3", script.c_str(), certificate.c_str(), key.c_str(), length.c_str(), nullptr};
    EXPECT_EQ(::posix_spawnp(&pid_, "python3", &actions, nullptr, const_cast<char**>(argv), environ), 0);
    ::posix_spawn_file_actions_destroy(&actions);
    port_ = ReadPort();
  }
  ~TlsServer() {
    input_.Reset();
    ::waitpid(pid_, nullptr, 0);
  }
  TlsServer(const TlsServer&) = delete;
  TlsServer& operator=(const TlsServer&) = delete;

  uint16_t port() const { return port_; }

 private:
  uint16_t ReadPort() const {
    std::string line;
    for (char c = '\0'; ::read(output_.get(), &c, 1) == 1 && c != '\n';) line += c;
    EXPECT_FALSE(line.empty());
    return static_cast<uint16_t>(std::atoi(line.c_str()));
  }

  pid_t pid_ = -1;
  OwnedFd input_, output_;
  uint16_t port_ = 0;
};

// The fixture has a self-signed certificate for 127.0.0.1.
class ClientTlsTest : public ClientFixture {
 protected:
  ClientTlsTest() {
    const std::string command = fmt::format(
        "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=test "
        "-addext subjectAltName=IP:127.0.0.1 -keyout {} -out {} 2>/dev/null",
        key_, certificate_);
    EXPECT_EQ(std::system(command.c_str()), 0);
    server_.emplace(dir_, certificate_, key_);
  }

  std::string Url(std::string_view path = "/", std::string_view host = "127.0.0.1") const {
    return fmt::format("https://{}:{}{}", host, server_->port(), path);
  }

  void Trust() { ::setenv("SSL_CERT_FILE", certificate_.c_str(), 1); }

  support::ScratchDir dir_;
  const std::string certificate_ = dir_.path() + "/cert.pem", key_ = dir_.path() + "/key.pem";
  std::optional<TlsServer> server_;
};

TEST_F(ClientTlsTest, RefusesACertificateThatNobodyTrusts) {
  const auto asked = Ask(Get(Url()));
  EXPECT_FALSE(asked->response);
  EXPECT_THAT(asked->error(), StartsWith("http/request GET " + Url() + ": "));
  EXPECT_THAT(asked->error(), HasSubstr("certificate"));
}

TEST_F(ClientTlsTest, TrustsTheCertificatesOfTheEnvironment) {
  Trust();
  const auto asked = Ask({.method = "GET", .url = Url(), .headers = {{"Authorization", "A"}}});
  EXPECT_TRUE(asked->succeeded()) << asked->error();
  EXPECT_EQ(asked->body, "A");
}

TEST_F(ClientTlsTest, TrustsTheFileOfTheRequest) {
  Request request = Get(Url());
  request.ca_file = certificate_;
  const auto asked = Ask(request);
  EXPECT_TRUE(asked->succeeded()) << asked->error();
  EXPECT_FALSE(Ask(Get(Url()))->succeeded());
}

TEST_F(ClientTlsTest, TrustsADirectoryOfCertificates) {
  const std::string link =
      fmt::format("ln -s {} {}/$(openssl x509 -hash -noout -in {}).0", certificate_, dir_.path(), certificate_);
  ASSERT_EQ(std::system(link.c_str()), 0);
  ::setenv("SSL_CERT_DIR", dir_.path().c_str(), 1);
  const auto asked = Ask(Get(Url()));
  EXPECT_TRUE(asked->succeeded()) << asked->error();
}

TEST_F(ClientTlsTest, RefusesACertificateForAnotherName) {
  Trust();
  const auto asked = Ask(Get(Url("/", "localhost")));
  EXPECT_FALSE(asked->response);
  EXPECT_THAT(asked->error(), HasSubstr("name matches"));
}

TEST_F(ClientTlsTest, PausesWithoutLoss) {
  Trust();
  auto asked = Start(Get(Url("/long")));
  int pauses = 0;
  asked->on_body = [&] {
    ++pauses;
    asked->exchange->Pause();
    loop_.Post([&] { asked->exchange->Resume(); });
  };
  EXPECT_TRUE(Await(*asked));
  EXPECT_TRUE(asked->succeeded()) << asked->error();
  EXPECT_TRUE(asked->body == std::string(kLongBytes, 'x'));
  EXPECT_GT(pauses, 10);
}

TEST_F(ClientTlsTest, KeepsSecretsFromAnotherScheme) {
  Trust();
  HttpServer plain(support::EchoRequest);
  const auto down = Ask({.method = "GET", .url = Url("/to/" + plain.Url()), .headers = {{"Authorization", "A"}}});
  EXPECT_TRUE(down->succeeded()) << down->error();
  EXPECT_EQ(plain.arrivals().at(0).Header("authorization"), std::nullopt);
  HttpServer upward(
      [&](const HttpArrival&, HttpPeer& peer) { peer.Answer(302, "", fmt::format("Location: {}\r\n", Url())); });
  const auto up = Ask({.method = "GET", .url = upward.Url(), .headers = {{"Authorization", "A"}}});
  EXPECT_TRUE(up->succeeded()) << up->error();
  EXPECT_EQ(up->body, "None");
}

void Tunnel(int a, int b) {
  pollfd entries[] = {{.fd = a, .events = POLLIN, .revents = 0}, {.fd = b, .events = POLLIN, .revents = 0}};
  for (;;) {
    ::poll(entries, 2, -1);
    for (int i = 0; i < 2; ++i) {
      if (entries[i].revents == 0) continue;
      char bytes[16u << 10];
      const ssize_t n = ::recv(entries[i].fd, bytes, sizeof(bytes), 0);
      if (n <= 0) return;
      if (::send(entries[1 - i].fd, bytes, static_cast<size_t>(n), MSG_NOSIGNAL) != n) return;
    }
  }
}

TEST_F(ClientTlsTest, TunnelsThroughAProxyThatSeesNothing) {
  Trust();
  HttpServer proxy([&](const HttpArrival&, HttpPeer& peer) {
    const auto server = support::TestSocket::Connect(fmt::format("ws://127.0.0.1:{}", server_->port()));
    peer.Send("HTTP/1.1 200 Connected\r\nX-Of-The-Proxy: 1\r\n\r\n");
    Tunnel(peer.fd(), server.fd());
    peer.Close();
  });
  ::setenv("https_proxy", proxy.Url().c_str(), 1);
  const auto asked = Ask({.method = "GET", .url = Url(), .headers = {{"Authorization", "A"}}});
  EXPECT_TRUE(asked->succeeded()) << asked->error();
  EXPECT_EQ(asked->body, "A");
  EXPECT_EQ(asked->Header("x-of-the-proxy"), std::nullopt);
  const HttpArrival arrival = proxy.arrivals().at(0);
  EXPECT_EQ(arrival.method, "CONNECT");
  EXPECT_EQ(arrival.Header("authorization"), std::nullopt);
  client_.reset();
}

}  // namespace
}  // namespace holdfast::http
