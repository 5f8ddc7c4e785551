// The server and a file helper send each other these lines, a request and one of three answers:
//   {"operation":"fs/remove","params":{...}}
//   {"status":"ok","payload":{"operation":"fs/remove","response":{...}}}
//   {"status":"error","payload":{"code":-32603,"message":"..."}}
//   {"status":"stale"}
// A file helper is stale if a protected path has appeared or has lost its mount; the server then asks another one.
//
// An operation has the name of its method, and the same params without `sandbox`. The answer to `fs/open` carries an
// open file; the server uses it for fs/readFile too.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace holdfast::files {

inline constexpr std::string_view kStale = R"({"status":"stale"})";

std::string Request(std::string_view operation, std::string_view params_json);

std::string Success(std::string_view operation, std::string_view response_json);
std::string Failure(const Error& error);

// Returns the JSON of the response, which is a view of `line`, or the error that the file helper answered. Fails with
// kInternal if the line is not an answer to `operation`.
Result<std::string_view> ReadAnswer(std::string_view operation, std::string_view line);

}  // namespace holdfast::files
