// The ways by which an executor reaches its registry and its rendezvous: through a proxy, and by https.
#include <openssl/ssl.h>
#include <poll.h>
#include <sys/socket.h>

#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "remote/executor.h"
#include "remote/executor_fixture.h"
#include "support/test_certificate.h"
#include "transport/socket_address.h"
#include "transport/tls_context.h"

namespace holdfast::remote {
namespace {

using support::RpcClient;
using support::ServerProcess;
using support::TestSocket;
using testing::HasSubstr;

// Carries bytes both ways until one end closes.
template <typename Pass>
void Carry(int left, int right, Pass pass) {
  for (;;) {
    pollfd ends[] = {{left, POLLIN, 0}, {right, POLLIN, 0}};
    if (::poll(ends, 2, -1) <= 0) return;
    if (ends[0].revents != 0 && !pass(0)) return;
    if (ends[1].revents != 0 && !pass(1)) return;
  }
}

bool PassBytes(int from, int to) {
  char bytes[4096];
  const ssize_t count = ::recv(from, bytes, sizeof(bytes), 0);
  return count > 0 && ::send(to, bytes, static_cast<size_t>(count), MSG_NOSIGNAL) == count;
}

class ProxyTest : public ExecutorFixture {
 protected:
  // A tunnel leads to the rendezvous, whatever place it is asked for. Other requests are for the registry.
  void Serve(const support::HttpArrival& arrival, support::HttpPeer& peer) const {
    if (arrival.method != "CONNECT") {
      peer.Answer(200, R"({"id":"reg-1","executor_id":"exec-1","url":"ws://rendezvous.test:8080/rv"})");
      return;
    }
    const TestSocket target = TestSocket::Connect("ws://" + rendezvous_.name());
    peer.Send("HTTP/1.1 200 Connection established\r\n\r\n");
    Carry(peer.fd(), target.fd(),
          [&](int from) { return from == 0 ? PassBytes(peer.fd(), target.fd()) : PassBytes(target.fd(), peer.fd()); });
    peer.Close();
  }

  support::HttpServer proxy_{
      [this](const support::HttpArrival& arrival, support::HttpPeer& peer) { Serve(arrival, peer); }};
};

TEST_F(ProxyTest, TheProxyOfTheEnvironmentLeadsToTheRegistryAndToTheRendezvous) {
  const auto executor = ServerProcess::Launch(
      Words({"--remote", "http://registry.test", "--executor-id", "exec-1"}),
      {Environment()[0], "http_proxy=" + proxy_.Url(""), "no_proxy=", "NO_PROXY=", "all_proxy=", "ALL_PROXY="});
  Visit visit = rendezvous_.Accept();
  ASSERT_TRUE(visit) << executor.Stderr();
  EXPECT_EQ(visit.Header("Host"), "rendezvous.test:8080");
  RpcClient client = visit.Join();
  client.Handshake();
  client.Start(support::Shell("p", "echo through"));
  EXPECT_EQ(client.WaitForClosed("p"), "through\n");
  ASSERT_EQ(proxy_.arrivals().size(), 2u);
  EXPECT_EQ(proxy_.arrivals()[0].target, "http://registry.test/cloud/executor/exec-1/register");
  EXPECT_EQ(proxy_.arrivals()[1].target, "rendezvous.test:8080");
}

// A server that speaks TLS for one connection, and passes what it decrypts to the registry.
class TlsFront {
 public:
  TlsFront(const support::TestCertificate& certificate, std::string registry)
      : context_(*transport::TlsContext::ForServer(certificate.certificate_file(), certificate.key_file())),
        registry_(std::move(registry)),
        listening_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    auto address = *transport::TcpAddress("127.0.0.1", 0);
    EXPECT_EQ(::bind(listening_.get(), address.get(), address.size), 0);
    EXPECT_EQ(::listen(listening_.get(), 8), 0);
    EXPECT_EQ(::getsockname(listening_.get(), address.get(), &address.size), 0);
    url_ = "https://" + transport::TextOf(address);
    thread_ = std::thread([this] { Serve(); });
  }
  ~TlsFront() {
    (void)::shutdown(listening_.get(), SHUT_RDWR);
    thread_.join();
  }

  const std::string& url() const { return url_; }

 private:
  void Serve() {
    const OwnedFd client(::accept4(listening_.get(), nullptr, nullptr, SOCK_CLOEXEC));
    if (!client.is_open()) return;
    const std::unique_ptr<SSL, void (*)(SSL*)> ssl(::SSL_new(context_.get()), ::SSL_free);
    ::SSL_set_fd(ssl.get(), client.get());
    // The context reads ahead. A request that came with the end of the handshake would then lie in OpenSSL's buffer,
    // where `poll` cannot see it.
    ::SSL_set_read_ahead(ssl.get(), 0);
    if (::SSL_accept(ssl.get()) != 1) return;
    const TestSocket registry = TestSocket::Connect(registry_);
    Carry(client.get(), registry.fd(), [&](int from) {
      char bytes[16384];
      if (from == 0) {
        const int count = ::SSL_read(ssl.get(), bytes, sizeof(bytes));
        return count > 0 && ::send(registry.fd(), bytes, static_cast<size_t>(count), MSG_NOSIGNAL) == count;
      }
      const ssize_t count = ::recv(registry.fd(), bytes, sizeof(bytes), 0);
      return count > 0 && ::SSL_write(ssl.get(), bytes, static_cast<int>(count)) == count;
    });
  }

  const transport::TlsContext context_;
  const std::string registry_;
  const OwnedFd listening_;
  std::string url_;
  std::thread thread_;
};

class HttpsRegistryTest : public ExecutorFixture {
 protected:
  void SetUp() override { registry_.SendTo(rendezvous_.url()); }

  ServerProcess StartAt(const TlsFront& front, std::vector<std::string> more = {}) const {
    more.insert(more.begin(), {"--remote", front.url(), "--executor-id", "exec-1"});
    return ServerProcess::Launch(Words(std::move(more)), Environment());
  }

  support::TestCertificate certificate_;
};

TEST_F(HttpsRegistryTest, TheCertificatesOfTheFileAreTrusted) {
  const TlsFront front(certificate_, "ws://" + registry_.authority());
  ServerProcess executor = StartAt(front, {"--ca-file", certificate_.certificate_file()});
  RpcClient client = JoinNext();
  client.Start(support::Shell("p", "echo registered"));
  EXPECT_EQ(client.WaitForClosed("p"), "registered\n");
  client.Disconnect();
  executor.Stop();
  EXPECT_EQ(registry_.arrivals()[0].Header("authorization"), "Bearer sesame-token");
}

TEST_F(HttpsRegistryTest, NoOtherCertificateIsTrusted) {
  const TlsFront front(certificate_, "ws://" + registry_.authority());
  ServerProcess executor = StartAt(front);
  EXPECT_EQ(executor.WaitForExit(), 1);
  EXPECT_THAT(executor.Stderr(), HasSubstr("Error: executor registry request failed: error sending request for url"));
  EXPECT_TRUE(registry_.arrivals().empty());
}

}  // namespace
}  // namespace holdfast::remote
