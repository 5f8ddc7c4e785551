#include "client/url_dialer.h"

#include <utility>

#include "transport/dial.h"
#include "transport/dial_url.h"

namespace holdfast::client {
namespace {

// Servers send files of up to 512 MiB in one message, and some of them in one frame.
constexpr size_t kMaxMessageBytes = 768u << 20;

class UrlDialer final : public Dialer {
 public:
  UrlDialer(loop::EventLoop& loop, transport::ServerUrl url, transport::DialOptions options)
      : loop_(loop), url_(std::move(url)), options_(std::move(options)) {}

  loop::Task<Result<std::shared_ptr<rpc::Transport>>> Dial() override { return transport::Dial(loop_, url_, options_); }

 private:
  loop::EventLoop& loop_;
  const transport::ServerUrl url_;
  const transport::DialOptions options_;
};

}  // namespace

Result<std::unique_ptr<Dialer>> MakeUrlDialer(loop::EventLoop& loop, const ConnectOptions& options) {
  TRY(transport::ServerUrl url, transport::ParseServerUrl(options.url));
  transport::DialOptions dial;
  dial.ca_file = options.ca_file;
  dial.headers = options.headers;
  if (!options.bearer_token.empty()) dial.headers.emplace_back("Authorization", "Bearer " + options.bearer_token);
  dial.timeout = options.connect_timeout;
  dial.limits.max_message_bytes = kMaxMessageBytes;
  dial.limits.max_frame_bytes = kMaxMessageBytes;
  return std::make_unique<UrlDialer>(loop, std::move(url), std::move(dial));
}

}  // namespace holdfast::client
