// The lines between the server and a file helper:
//   {"operation":"fs/remove","params":{...}}
//   {"status":"ok","payload":{"operation":"fs/remove","response":{...}}}
//   {"status":"error","payload":{"code":-32603,"message":"..."}}
//   {"status":"stale"}: a protected path has appeared, or lost its mount, so another helper is to be asked
// Operations are called like the methods they are part of, and take the same params but for `sandbox`. `fs/open` gives
// an open file along with its answer, and serves fs/readFile too.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace holdfast::files {

inline constexpr std::string_view kStale = R"({"status":"stale"})";

std::string Request(std::string_view operation, std::string_view params_json);

std::string Success(std::string_view operation, std::string_view response_json);
std::string Failure(const Error& error);

// The JSON of the response, a view of `line`; or the error that the helper had. kInternal when it is no answer to this.
Result<std::string_view> ReadAnswer(std::string_view operation, std::string_view line);

}  // namespace holdfast::files
