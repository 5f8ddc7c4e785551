#include "client/url_dialer.h"

#include <optional>
#include <string>
#include <utility>
#include <variant>

#include "client/refusal_error.h"
#include "transport/dial.h"
#include "transport/dial_url.h"

namespace holdfast::client {
namespace {

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
