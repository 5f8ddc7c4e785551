// A request and the redirects it meets: one transfer after another, told to the observer as one exchange. Shared with
// the turns of the loop it has asked for, so an observer may let go of it in any callback.
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

  // The time allowed runs from here.
  void StartTimer();
  // The library is there.
  void Begin(CurlDriver& driver);
  // There is no library. Calls the observer.
  void Abandon(Error error) { Finish(std::unexpected(std::move(error))); }
  void Cancel();

  void Pause() { paused_ = true; }
  void Resume();

 private:
  void StartTransfer();
  // Asks for a turn of the loop.
  void Notify();
  // Tells the observer what has come. Each step leaves `transfer_` empty when the exchange is over.
  void Pump();
  void TakeResponse();
  void DeliverBody();
  // Whether the response sends us on, or cannot be followed, which ends the exchange.
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
  Url url_;                     // of the transfer under way
  ExchangeObserver* observer_;  // null once the exchange is over
  CurlDriver* driver_ = nullptr;
  std::unique_ptr<loop::Timer> timer_;
  std::unique_ptr<Transfer> transfer_;  // goes before the body in `request_`
  std::optional<Error> refused_;        // the library would not start a transfer
  std::optional<Redirect> redirect_;    // to follow when the transfer has ended
  int redirects_ = 0;
  bool responded_ = false, paused_ = false, notified_ = false;
};

}  // namespace holdfast::http
