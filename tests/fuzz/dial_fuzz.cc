// Whatever a server answers to the request for an upgrade, the client survives and does not take it for a WebSocket
// server: the answer cannot contain the hash of a key that the server has not read. The parsers of URLs and of a
// proxy's answer see the same input.
#include <sys/socket.h>

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/check.h"
#include "loop/scope.h"
#include "transport/plain_stream.h"
#include "transport/proxy.h"
#include "transport/web_socket_connection.h"

namespace {

using namespace holdfast;
using Upgraded = Result<std::shared_ptr<rpc::Transport>>;

constexpr size_t kMaxInput = 16u << 10;
constexpr std::chrono::seconds kPatience(5);

loop::Task<> Upgrade(loop::EventLoop& loop, OwnedFd socket, std::optional<Upgraded>& outcome) {
  const transport::Limits limits;
  loop::Deadline deadline(loop, kPatience);
  transport::ServerStream server{.stream = std::make_unique<transport::PlainStream>(std::move(socket)),
                                 .peer = "fuzzer",
                                 .host = "fuzzer",
                                 .target = "/"};
  outcome = co_await transport::RequestWebSocket(loop, std::move(server), limits, deadline);
  loop.Stop();
}

void TryUpgrade(std::string_view answer) {
  static loop::EventLoop loop;
  int fds[2];
  CHECK(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, fds) == 0);
  const OwnedFd server(fds[0]);
  CHECK(::send(server.get(), answer.data(), answer.size(), 0) == static_cast<ssize_t>(answer.size()));
  ::shutdown(server.get(), SHUT_WR);
  std::optional<Upgraded> outcome;
  loop::Scope scope;
  scope.Start(Upgrade(loop, OwnedFd(fds[1]), outcome));
  if (!outcome) loop.Run();
  CHECK(outcome && !*outcome);
  CHECK(outcome->error().kind != ErrorKind::kTimeout);
  loop.Post([] { loop.Stop(); });  // callbacks that were under way when the loop stopped run before this one
  loop.Run();
}

void TryParsers(std::string_view text) {
  if (const auto url = transport::ParseServerUrl(text)) CHECK(!transport::NameOf(*url).empty());
  (void)transport::StatusLineOf(text);
  const transport::ProxySettings settings{.all = std::string(text), .none = std::string(text)};
  (void)transport::ProxyFor(settings, {.host = "a.example", .port = 80});
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size > kMaxInput) return 0;
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  TryParsers(input);
  TryUpgrade(input);
  return 0;
}
