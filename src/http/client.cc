#include "http/client.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/base64.h"
#include "base/check.h"
#include "base/percent.h"
#include "base/result.h"
#include "http/curl_driver.h"
#include "http/curl_library.h"
#include "http/exchange.h"
#include "http/redirect.h"
#include "http/request.h"
#include "http/syntax.h"
#include "http/transfer.h"
#include "http/url.h"
#include "loop/event_loop.h"

namespace holdfast::http {
namespace {

// A TransferChain is a request with the redirects that it meets: one transfer after another, which the observer sees as
// one exchange. A turn of the loop that runs the chain shares in its ownership, so an observer may release the chain in
// any callback.
class TransferChain : public std::enable_shared_from_this<TransferChain> {
 public:
  static constexpr int kMaxRedirects = 10;

  TransferChain(loop::EventLoop& loop, Request request, ExchangeObserver& observer);

  // Starts the timeout of the request.
  void StartTimer();
  // Starts the first transfer. Called when the library is loaded.
  void Begin(CurlDriver& driver);
  // Ends the exchange because the library could not be loaded. Calls the observer.
  void Abandon(Error error) { Finish(std::unexpected(std::move(error))); }
  void Cancel();

  void Pause() { paused_ = true; }
  void Resume();

 private:
  void StartTransfer();
  // Requests a turn of the loop, which calls Pump.
  void Notify();
  // Tells the observer what has arrived. Each step leaves `transfer_` empty if the exchange is over.
  void Pump();
  void TakeResponse();
  void DeliverBody();
  // Returns whether the response is a redirect. One that cannot be followed ends the exchange.
  bool MeetsRedirect(const Response& response);
  void FollowRedirect();
  void Finish(const Result<>& outcome);
  Error Failure(std::string_view reason) const;

  struct Redirect {
    uint16_t status;
    Url target;
  };

  loop::EventLoop& loop_;
  Request request_;
  Url url_;                     // the URL of the transfer under way
  ExchangeObserver* observer_;  // null once the exchange is over
  CurlDriver* driver_ = nullptr;
  std::unique_ptr<loop::Timer> timer_;
  std::unique_ptr<Transfer> transfer_;  // destroyed before the body in `request_`, which it sends
  std::optional<Error> refused_;        // set if the library refused to start a transfer
  std::optional<Redirect> redirect_;    // the redirect to follow when the transfer has ended
  int redirects_ = 0;
  bool responded_ = false, paused_ = false, notified_ = false;
};

// The arithmetic of the clock overflows with longer timeouts.
constexpr std::chrono::milliseconds kLongestTimeout = std::chrono::years(10);

Url ParsedUrl(std::string_view text) {
  auto url = ParseUrl(text);
  CHECK(url.has_value());  // CheckRequest has parsed it before
  return *std::move(url);
}

const std::string* FindHeader(const std::vector<Header>& headers, std::string_view name) {
  const auto found =
      std::ranges::find_if(headers, [&](const Header& header) { return EqualsIgnoringCase(header.name, name); });
  return found == headers.end() ? nullptr : &found->value;
}

// Sends the user and password of a URL as Authorization, unless the request has such a header.
void AddAuthorization(Request& request, const Url& url) {
  if (!url.userinfo || url.userinfo->empty()) return;
  if (FindHeader(request.headers, "authorization") != nullptr) return;
  if (FindHeader(request.secret_headers, "authorization") != nullptr) return;
  std::string credentials = PercentDecoded(*url.userinfo);
  if (!url.userinfo->contains(':')) credentials += ':';
  request.secret_headers.push_back({"Authorization", "Basic " + Base64Encode(std::as_bytes(std::span(credentials)))});
}

TransferChain::TransferChain(loop::EventLoop& loop, Request request, ExchangeObserver& observer)
    : loop_(loop), request_(std::move(request)), url_(ParsedUrl(request_.url)), observer_(&observer) {
  AddAuthorization(request_, url_);
}

void TransferChain::StartTimer() {
  if (!request_.timeout) return;
  timer_ = std::make_unique<loop::Timer>(loop_, [weak = weak_from_this(), ms = request_.timeout->count()] {
    if (auto self = weak.lock()) self->Finish(std::unexpected(self->Failure(fmt::format("timed out after {} ms", ms))));
  });
  timer_->Start(std::min(*request_.timeout, kLongestTimeout));
}

void TransferChain::Begin(CurlDriver& driver) {
  if (observer_ == nullptr) return;
  driver_ = &driver;
  StartTransfer();
}

void TransferChain::Cancel() {
  observer_ = nullptr;
  transfer_.reset();
  timer_.reset();
}

void TransferChain::Resume() {
  paused_ = false;
  Notify();
}

void TransferChain::StartTransfer() {
  transfer_ = std::make_unique<Transfer>(*driver_, [this] { Notify(); });
  if (auto started = transfer_->Start(request_, url_); !started) {
    refused_ = Failure(started.error().message);
    Notify();
  }
}

void TransferChain::Notify() {
  if (std::exchange(notified_, true)) return;
  loop_.Post([weak = weak_from_this()] {
    if (auto self = weak.lock()) self->Pump();
  });
}

void TransferChain::Pump() {
  notified_ = false;
  if (!transfer_) return;
  if (refused_) return Finish(std::unexpected(*refused_));
  if (!responded_ && !redirect_) TakeResponse();
  if (redirect_) return FollowRedirect();
  if (responded_) DeliverBody();
  if (!transfer_ || !transfer_->outcome() || transfer_->has_body()) return;
  const Result<> outcome = *transfer_->outcome();
  Finish(outcome ? outcome : std::unexpected(Failure(outcome.error().message)));
}

void TransferChain::TakeResponse() {
  const Response* response = transfer_->response();
  if (response == nullptr || MeetsRedirect(*response)) return;
  responded_ = true;
  observer_->OnResponse(*response);
}

void TransferChain::DeliverBody() {
  while (transfer_ && !paused_) {
    if (transfer_->has_body()) {
      observer_->OnBody(transfer_->TakeBody());
    } else if (transfer_->stalled()) {
      transfer_->Continue();
    } else {
      return;
    }
  }
}

// A response whose Location is not a valid URL is delivered like any other, because the client may know what it means.
bool TransferChain::MeetsRedirect(const Response& response) {
  if (request_.redirects == Redirects::kStop || !IsRedirect(response.status)) return false;
  const std::string* location = FindHeader(response.headers, "location");
  if (location == nullptr) return false;
  auto target = ResolveUrl(url_, *location);
  if (!target && target.error().kind == UrlFault::Kind::kInvalid) return false;
  if (!target) {
    Finish(std::unexpected(Failure("redirect target uses unsupported URL scheme: " + target.error().text)));
  } else if (redirects_ == kMaxRedirects) {
    Finish(std::unexpected(Failure("too many redirects")));
  } else {
    redirect_ = Redirect{response.status, *std::move(target)};
    transfer_->Discard();
  }
  return true;
}

// The redirect is followed when the transfer has ended, so that its connection can be used again. The outcome of that
// transfer does not matter.
void TransferChain::FollowRedirect() {
  if (!transfer_->outcome()) return;
  transfer_.reset();
  ApplyRedirect(request_, redirect_->status, url_, redirect_->target);
  url_ = std::move(redirect_->target);
  redirect_.reset();
  ++redirects_;
  StartTransfer();
}

void TransferChain::Finish(const Result<>& outcome) {
  ExchangeObserver* observer = observer_;
  Cancel();
  if (observer != nullptr) observer->OnEnd(outcome);
}

Error TransferChain::Failure(std::string_view reason) const {
  return {ErrorKind::kSystem, fmt::format("http/request {} {}: {}", request_.method, url_.Shown(), reason)};
}

class RunningExchange final : public Exchange {
 public:
  explicit RunningExchange(std::shared_ptr<TransferChain> chain) : chain_(std::move(chain)) {}
  ~RunningExchange() override { chain_->Cancel(); }

  void Pause() override { chain_->Pause(); }
  void Resume() override { chain_->Resume(); }

 private:
  std::shared_ptr<TransferChain> chain_;
};

}  // namespace

struct Client::State : std::enable_shared_from_this<State> {
  State(loop::EventLoop& l, loop::WorkerPool& w, ClientOptions o) : loop(l), workers(w), options(std::move(o)) {}

  void Load();
  void OnLoaded(const Result<CurlLibrary>& library);

  loop::EventLoop& loop;
  loop::WorkerPool& workers;
  const ClientOptions options;
  std::optional<CurlDriver> driver;  // present once the library is loaded
  bool loading = false;
  std::vector<std::weak_ptr<TransferChain>> waiting;  // exchanges that wait for the library
};

// A failure is not remembered: the next exchange tries again, because the library may have been installed meanwhile.
void Client::State::Load() {
  if (std::exchange(loading, true)) return;
  auto library = std::make_shared<Result<CurlLibrary>>();
  workers.Run([library, name = options.library] { *library = CurlLibrary::Load(name); },
              [library, weak = weak_from_this()] {
                if (auto self = weak.lock()) self->OnLoaded(*library);
              });
}

void Client::State::OnLoaded(const Result<CurlLibrary>& library) {
  loading = false;
  if (library) driver.emplace(loop, *library, options.idle_time);
  for (const auto& weak : std::exchange(waiting, {})) {
    auto chain = weak.lock();
    if (!chain) continue;
    if (library) {
      chain->Begin(*driver);
    } else {
      chain->Abandon(library.error());
    }
  }
}

Client::Client(loop::EventLoop& loop, loop::WorkerPool& workers, ClientOptions options)
    : state_(std::make_shared<State>(loop, workers, std::move(options))) {}

Client::~Client() = default;

std::unique_ptr<Exchange> Client::Start(Request request, ExchangeObserver& observer) {
  auto chain = std::make_shared<TransferChain>(state_->loop, std::move(request), observer);
  chain->StartTimer();
  if (state_->driver) {
    chain->Begin(*state_->driver);
  } else {
    state_->waiting.push_back(chain);
    state_->Load();
  }
  return std::make_unique<RunningExchange>(std::move(chain));
}

}  // namespace holdfast::http
