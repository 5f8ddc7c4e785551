// One request and its response by libcurl, without redirects. What comes is kept until it is taken; with enough of it
// kept, the server is not read.
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

  // `on_change` is called from inside the library: it may only take note. The driver outlives the transfer.
  Transfer(CurlDriver& driver, loop::Callback on_change);
  // Cancels what is under way. Not from inside `on_change`.
  ~Transfer();
  Transfer(const Transfer&) = delete;
  Transfer& operator=(const Transfer&) = delete;

  // `request` stays as it is while the transfer lives: its body is sent from where it is.
  Result<> Start(const Request& request, const Url& url);

  // Null until the headers are complete.
  const Response* response() const { return head_.complete() ? &head_.response() : nullptr; }

  bool has_body() const { return !body_.empty(); }
  std::string TakeBody();

  // No more is read until Continue(), which may call `on_change`.
  bool stalled() const { return stalled_; }
  void Continue();

  // The body is of no interest. One that is long ends the transfer, and the connection with it.
  void Discard();

  // Once all has come, or failed. An error holds the reason alone.
  const std::optional<Result<>>& outcome() const { return outcome_; }

 private:
  template <typename Value>
  void Set(CURLoption option, Value value);
  void SetConnection(const Url& url);
  void SetAuthorities();
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
  CURLcode setup_ = CURLE_OK;  // the first option that was refused
  std::array<char, CURL_ERROR_SIZE> error_text_{};

  ResponseHead head_;
  std::string body_;
  bool stalled_ = false;
  bool discarding_ = false;
  size_t discarded_bytes_ = 0;
  std::optional<Result<>> outcome_;
};

}  // namespace holdfast::http
