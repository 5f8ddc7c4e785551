#include "load_requests.h"

#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>

#include <fmt/format.h>

#include "base/owned_fd.h"
#include "bench_server.h"

namespace holdfast::bench {
namespace {

// The address of a node, from the URL that it prints: http://IP:PORT.
struct Place {
  explicit Place(std::string_view url) : text(url.substr(std::string_view("http://").size())) {}
  std::string host() const { return text.substr(0, text.find(':')); }
  uint16_t port() const { return static_cast<uint16_t>(std::atoi(text.c_str() + text.find(':') + 1)); }

  std::string text;
};

OwnedFd Connect(const Place& place) {
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_port = htons(place.port());
  Require(::inet_pton(AF_INET, place.host().c_str(), &address.sin_addr) == 1, "the node has no IPv4 address");
  OwnedFd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  Require(::connect(socket.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) == 0, "connect to the node");
  return socket;
}

// Returns the whole answer, with its head. The node closes the connection after it.
std::string Ask(const Place& place, std::string_view line, std::string_view token, std::string_view body) {
  const OwnedFd socket = Connect(place);
  const std::string request = fmt::format(
      "{} HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {}\r\n"
      "Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{}",
      line, place.text, token, body.size(), body);
  Require(::write(socket.get(), request.data(), request.size()) == static_cast<ssize_t>(request.size()), "write");
  std::string answer;
  char block[4096];
  ssize_t n = 0;
  while ((n = ::read(socket.get(), block, sizeof block)) > 0) answer.append(block, static_cast<size_t>(n));
  return answer;
}

}  // namespace

std::string RegisterExecutor(std::string_view node_url, std::string_view id, std::string_view token) {
  const std::string body = fmt::format(
      R"({{"idempotency_id":"load-{0}","executor_id":"{0}","name":"load","labels":{{}},"metadata":{{}}}})", id);
  const std::string answer = Ask(Place(node_url), fmt::format("POST /cloud/executor/{}/register", id), token, body);
  constexpr std::string_view kUrl = R"("url":")";
  const size_t at = answer.find(kUrl);
  Require(answer.starts_with("HTTP/1.1 200") && at != answer.npos, "the registration was refused: " + answer);
  const size_t begin = at + kUrl.size();
  return answer.substr(begin, answer.find('"', begin) - begin);
}

void AwaitExecutor(std::string_view node_url, std::string_view id, std::string_view client_token) {
  const std::string wanted = fmt::format(R"("id":"{}")", id);
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (!Ask(Place(node_url), "GET /executors", client_token, "").contains(wanted)) {
    Require(std::chrono::steady_clock::now() < deadline, "the executor did not register");
  }
}

}  // namespace holdfast::bench
