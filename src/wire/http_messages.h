// Params and result of http/request, and the params of http/request/bodyDelta.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "wire/encode.h"

namespace holdfast::wire {

// A header of the request that is sent. If `valueEnvVar` names a variable of the server's environment, the variable's
// value is appended to `value`.
struct HttpRequestHeader {
  std::string name, value;
  std::optional<std::string> value_env_var;

  void Fields(auto& f) {
    f.Required("name", name);
    f.Required("value", value);
    f.Optional("valueEnvVar", value_env_var);
  }
};

enum class RedirectPolicy { kFollow, kStop };
template <>
struct EnumNames<RedirectPolicy> {
  static constexpr std::array<std::pair<const char*, RedirectPolicy>, 2> kNames{
      {{"follow", RedirectPolicy::kFollow}, {"stop", RedirectPolicy::kStop}}};
};

struct HttpRequestParams {
  std::string request_id, method, url;
  std::vector<HttpRequestHeader> headers;
  std::optional<std::string_view> body_base64;  // a view of the message
  std::optional<uint64_t> timeout_ms;
  std::optional<RedirectPolicy> redirect_policy;  // default follow
  bool stream_response = false;

  void Fields(auto& f) {
    f.Required("requestId", request_id);
    f.Required("method", method);
    f.Required("url", url);
    f.Optional("headers", headers);
    f.Optional("bodyBase64", body_base64);
    f.Optional("timeoutMs", timeout_ms);
    f.Optional("redirectPolicy", redirect_policy);
    f.Optional("streamResponse", stream_response);
  }
};

struct HttpHeader {
  std::string name, value;

  void Fields(auto& f) {
    f.Required("name", name);
    f.Required("value", value);
  }
};

struct HttpRequestResult {
  uint64_t status = 0;
  std::vector<HttpHeader> headers;
  Bytes body;

  void Fields(auto& f) {
    f.Required("status", status);
    f.Required("headers", headers);
    f.Required("bodyBase64", body);
  }
};

// One piece of a streamed body. The last piece is empty; if the body is incomplete, `error` tells why.
struct HttpBodyDeltaParams {
  std::string request_id;
  uint64_t seq = 0;
  Bytes delta;
  bool done = false;
  std::optional<std::string> error;

  void Fields(auto& f) {
    f.Required("requestId", request_id);
    f.Required("seq", seq);
    f.Required("deltaBase64", delta);
    f.Required("done", done);
    f.Nullable("error", error);
  }
};

}  // namespace holdfast::wire
