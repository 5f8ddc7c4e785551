#include "client/url_dialer.h"

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include "base/result.h"
#include "base/shown_text.h"
#include "transport/dial.h"
#include "transport/dial_url.h"
#include "transport/refusal.h"
#include "wire/json.h"

namespace holdfast::client {
namespace {

constexpr std::string_view kExecutors = "/executors/";
constexpr size_t kMaxReasonBytes = 200;

std::string_view Trimmed(std::string_view text) {
  const size_t first = text.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos) return "";
  return text.substr(first, text.find_last_not_of(" \t\r\n") - first + 1);
}

std::string Without(std::string text, std::string_view token) {
  if (token.empty()) return text;
  for (size_t at; (at = text.find(token)) != std::string::npos;) text.replace(at, token.size(), "[token]");
  return text;
}

// Returns the reason in a body {"error":{"message"}}, or else the body itself.
std::string ReasonIn(const std::string& body, std::string_view token) {
  wire::Document document;
  const auto json = document.Parse(body);
  const std::string_view message = json ? json->Find("error").Find("message").string().value_or("") : "";
  return ShownExcerpt(Without(std::string(Trimmed(message.empty() ? body : message)), token), kMaxReasonBytes);
}

// Returns the id at the end of the path of a rendezvous; nothing for the path of another server.
std::string_view ExecutorIn(std::string_view target) {
  const std::string_view path = target.substr(0, target.find('?'));
  const size_t at = path.rfind(kExecutors);
  return at == std::string_view::npos ? "" : path.substr(at + kExecutors.size());
}

Error WithoutReason(const transport::WebSocketServer& server, unsigned status, const Error& general) {
  const std::string_view id = ExecutorIn(server.target);
  const std::string name = transport::NameOf(server);
  if (id.empty()) return general;
  switch (status) {
    case 401:
      return {general.kind, fmt::format("the rendezvous at {} does not accept the token", name)};
    case 403:
      return {general.kind, fmt::format("the token may not use the executor {} at {}", id, name)};
    case 404:
      return {ErrorKind::kDisconnected, fmt::format("no executor named {} is connected to {}", id, name)};
    case 502:
    case 503:
      return {ErrorKind::kDisconnected, fmt::format("the executor {} cannot be reached through {} now", id, name)};
    default:
      return general;
  }
}

// Returns whether the server will refuse the same token again.
bool RefusesToken(const transport::Refusal& refusal) { return refusal.status == 401 || refusal.status == 403; }

// Returns the error of a refused connection, with the server's own reason at its end. `general` is the error that does
// not know the rendezvous. The kind is kDisconnected if the executor is not there, and else that of `general`. No part
// of the message is the token, even if the server repeats it.
Error RefusalError(const transport::WebSocketServer& server, const transport::Refusal& refusal, const Error& general,
                   std::string_view token) {
  Error error = WithoutReason(server, refusal.status, general);
  const std::string reason = ReasonIn(refusal.body, token);
  if (!reason.empty()) error.message += ": " + reason;
  return error;
}

// Servers send files of up to 512 MiB in one message, and some of them in one frame.
constexpr size_t kMaxMessageBytes = 768u << 20;

class UrlDialer final : public Dialer {
 public:
  UrlDialer(loop::EventLoop& loop, transport::ServerUrl url, transport::DialOptions options, std::string token)
      : loop_(loop), url_(std::move(url)), options_(std::move(options)), token_(std::move(token)) {}

  loop::Task<Result<std::shared_ptr<rpc::Transport>>> Dial() override {
    std::optional<transport::Refusal> refusal;
    transport::DialOptions options = options_;
    options.on_refused = [&refusal](const transport::Refusal& refused) { refusal = refused; };
    auto dialled = co_await transport::Dial(loop_, url_, std::move(options));
    if (dialled || !refusal) co_return dialled;
    Error error = RefusalError(std::get<transport::WebSocketServer>(url_), *refusal, dialled.error(), token_);
    if (RefusesToken(*refusal)) exhausted_ = error;
    co_return std::unexpected(std::move(error));
  }
  std::optional<Error> exhausted() const override { return exhausted_; }

 private:
  loop::EventLoop& loop_;
  const transport::ServerUrl url_;
  const transport::DialOptions options_;
  const std::string token_;
  std::optional<Error> exhausted_;
};

}  // namespace

Result<std::unique_ptr<Dialer>> MakeUrlDialer(loop::EventLoop& loop, const ConnectOptions& options) {
  TRY(transport::ServerUrl url, transport::ParseServerUrl(options.url));
  transport::DialOptions dial;
  dial.ca_file = options.ca_file;
  dial.headers = options.headers;
  if (!options.bearer_token.empty()) dial.headers.emplace_back("Authorization", "Bearer " + options.bearer_token);
  dial.timeout = options.connect_timeout;
  dial.unix_peer = options.unix_peer;
  dial.limits.max_message_bytes = kMaxMessageBytes;
  dial.limits.max_frame_bytes = kMaxMessageBytes;
  return std::make_unique<UrlDialer>(loop, std::move(url), std::move(dial), options.bearer_token);
}

bool IsTokenReadable(const ConnectOptions& options) {
  const auto url = transport::ParseServerUrl(options.url);
  return url && !options.bearer_token.empty() && transport::IsReadableOnTheWay(*url);
}

}  // namespace holdfast::client
