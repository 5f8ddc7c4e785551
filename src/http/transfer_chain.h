// A TransferChain is a request with the redirects that it meets: one transfer after another, which the observer sees as
// one exchange. A turn of the loop that runs the chain shares in its ownership, so an observer may release the chain in
// any callback.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include "base/result.h"
#include "http/curl_driver.h"
#include "http/exchange.h"
#include "http/request.h"
#include "http/transfer.h"
#include "http/url.h"
#include "loop/event_loop.h"

namespace holdfast::http {

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

}  // namespace holdfast::http
