#include "http/transfer_chain.h"

#include <algorithm>
#include <chrono>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/base64.h"
#include "base/check.h"
#include "base/percent.h"
#include "http/redirect.h"
#include "http/syntax.h"

namespace holdfast::http {
namespace {

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

}  // namespace

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

}  // namespace holdfast::http
