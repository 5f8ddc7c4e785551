#include "bench_client.h"

#include <chrono>

#include <fmt/format.h>

#include "transport/dial.h"
#include "transport/dial_url.h"

namespace holdfast::bench {
namespace {

using namespace std::chrono_literals;

constexpr auto kPatience = 20s;

// The loop of all clients: a loop has descriptors of its own, and some benchmarks have hundreds of clients. Its timer
// runs on from one wait to the next, because to set it for each of them would cost a system call.
struct SharedLoop {
  loop::EventLoop loop;
  bool heard = false;  // a message has come, or a wait has begun, since the timer was started
  loop::Timer silence{loop, [this] { OnTime(); }};

  SharedLoop() { silence.Start(kPatience); }
  void OnTime() {
    Require(std::exchange(heard, false), "the server fell silent");
    silence.Start(kPatience);
  }
};

SharedLoop& Shared() {
  static SharedLoop shared;
  return shared;
}

}  // namespace

Client::Client(const std::string& url)
    : held_(Shared().loop, {}),
      peer_(std::make_shared<rpc::Peer>(rpc::PeerContext{.loop = Shared().loop, .held = held_, .document = document_},
                                        rpc::PeerOptions{.when_congested = rpc::WhenCongested::kGoOnReading}, Dial(url),
                                        *this)) {
  peer_->Start();
  wire::InitializeParams params;
  params.client_name = "server_bench";
  Call<wire::Initialize>(params);
  peer_->Notify<wire::Initialized>({});
}

Client::~Client() {
  calls_.reset();
  peer_->Close();
  RunUntil([this] { return peer_->closed(); });
}

std::shared_ptr<rpc::Transport> Client::Dial(const std::string& url) {
  const auto parsed = transport::ParseServerUrl(url);
  RequireSuccess(parsed);
  transport::DialOptions options;
  options.limits.ping_interval = 0ms;
  loop::Scope scope;
  std::optional<Result<std::shared_ptr<rpc::Transport>>> dialled;
  scope.Start(Keep(transport::Dial(Shared().loop, *parsed, std::move(options)), dialled));
  RunUntil([&dialled] { return dialled.has_value(); });
  RequireSuccess(*dialled);
  return **std::move(dialled);
}

void Client::RunUntil(const std::function<bool()>& done) {
  Shared().heard = true;
  while (!done()) Shared().loop.Run();
}

void Client::Stop() { Shared().loop.Stop(); }

void Client::Receive(const Take& take) {
  take_ = &take;
  RunUntil([this] { return take_ == nullptr; });
}

void Client::Note(const Arrival& arrival) {
  if (take_ == nullptr || (*take_)(arrival) == Wanted::kMore) return;
  take_ = nullptr;
  Stop();
}

bool Client::OnRawMessage(std::string_view message) {
  Shared().heard = true;
  const auto frame = wire::ReadOutputFrame(message);
  if (frame) Note(*frame);
  return frame.has_value();
}

void Client::OnRequest(const rpc::Request& request, rpc::PendingReply) {
  Require(false, fmt::format("the server has sent a request: {}", request.method));
}

template <typename Params>
void Client::NoteParams(const rpc::Notification& notification) {
  const auto params = wire::Decode<Params>(notification.params);
  RequireSuccess(params);
  Note(*params);
}

void Client::OnNotification(const rpc::Notification& notification) {
  if (notification.method == wire::ProcessExited::kName) return NoteParams<wire::ProcessExitedParams>(notification);
  if (notification.method == wire::ProcessClosed::kName) NoteParams<wire::ProcessClosedParams>(notification);
}

void Client::OnClosed() {
  Require(!calls_.has_value(), "the server closed the connection");
  Stop();
}

}  // namespace holdfast::bench
