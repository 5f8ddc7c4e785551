// A Transfer is one request and its response by libcurl, without following redirects. It keeps the body that has
// arrived until TakeBody, and stops reading from the server when it keeps enough.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include <curl/curl.h>

#include "base/result.h"
#include "http/curl_driver.h"
#include "http/exchange.h"
#include "http/request.h"
#include "http/response_head.h"
#include "http/url.h"
#include "loop/event_loop.h"

namespace holdfast::http {

class Transfer {
 public:
  static constexpr size_t kMaxKeptBytes = 256u << 10;
  static constexpr size_t kMaxDiscardedBytes = 1u << 20;

  // `on_change` is called from inside the library, so it may only record that something has changed. The driver must
  // outlive the transfer.
  Transfer(CurlDriver& driver, loop::Callback on_change);
  // Cancels what is under way. Must not run inside `on_change`.
  ~Transfer();
  Transfer(const Transfer&) = delete;
  Transfer& operator=(const Transfer&) = delete;

  // Starts the transfer. `request` must not change while the transfer lives, because its body is sent from where it is.
  Result<> Start(const Request& request, const Url& url);

  // Returns null until the headers are complete.
  const Response* response() const { return head_.complete() ? &head_.response() : nullptr; }

  bool has_body() const { return !body_.empty(); }
  std::string TakeBody();

  // Tells that nothing more is read from the server until Continue(), which may call `on_change`.
  bool stalled() const { return stalled_; }
  void Continue();

  // Discards the body from here on. A long body ends the transfer, and its connection with it.
  void Discard();

  // The outcome, once the whole response has arrived or the transfer has failed. An error has only the reason in its
  // message.
  const std::optional<Result<>>& outcome() const { return outcome_; }

 private:
  template <typename Value>
  void Set(CURLoption option, Value value);
  void SetConnection(const Url& url);
  void SetAuthorities(const std::string& ca_file);
  void SetMethod(const Request& request);
  void SetHeaders(const Request& request);
  void SetCallbacks();
  void Append(const std::string& header_line);

  bool TakeHeaderLine(std::string_view line);
  size_t Write(std::string_view bytes);
  void Finish(CURLcode code);
  std::string Reason(CURLcode code) const;

  CurlDriver& driver_;
  loop::Callback on_change_;
  CURL* easy_ = nullptr;
  curl_slist* header_lines_ = nullptr;
  CURLcode setup_ = CURLE_OK;  // the error of the first option that the library refused
  std::array<char, CURL_ERROR_SIZE> error_text_{};

  ResponseHead head_;
  std::string body_;
  bool stalled_ = false;
  bool discarding_ = false;
  size_t discarded_bytes_ = 0;
  std::optional<Result<>> outcome_;
};

}  // namespace holdfast::http
