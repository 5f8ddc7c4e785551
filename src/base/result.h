// Expected failure as a value. `Error::kind` is the closed list callers branch on; wire/error_code.cc maps it to a
// JSON-RPC code. Messages read `call object: reason`.
#pragma once

#include <cerrno>
#include <expected>
#include <string>
#include <string_view>
#include <utility>

namespace holdfast {

enum class ErrorKind {
  kInvalidRequest,    // well formed, but not possible in this state
  kUnknownMethod,     // no such method in the table
  kInvalidParams,     // params do not decode, or carry a value nobody could serve
  kNotFound,          // ENOENT on a path the client named
  kPermissionDenied,  // EACCES, EPERM
  kSessionAttached,   // the session belongs to another live connection
  kLimit,             // a configured limit is reached
  kSystem,            // any other failing system call
  kInternal,          // a broken promise of our own
};

struct Error {
  ErrorKind kind;
  std::string message;

  friend bool operator==(const Error&, const Error&) = default;
};

template <typename T = void>
using Result = std::expected<T, Error>;

inline std::unexpected<Error> Fail(ErrorKind kind, std::string message) {
  return std::unexpected(Error{kind, std::move(message)});
}

// The error of a failed system call: "open /etc/shadow: Permission denied". The kind follows from the errno.
Error ErrnoError(std::string_view call, std::string_view object, int errno_value);

// The same as a failure to return: `return FailErrno("open", path);` right after the call that has set errno.
inline std::unexpected<Error> FailErrno(std::string_view call, std::string_view object = {}, int errno_value = errno) {
  return std::unexpected(ErrnoError(call, object, errno_value));
}

// strerror without its locale and thread-safety questions.
std::string ErrnoText(int errno_value);

}  // namespace holdfast

// Unwraps a Result or returns its error from the enclosing function: `TRY(auto fd, OpenFile(path));`
// `TRY_VOID(Sync(fd));`
#define HOLDFAST_JOIN_(a, b) a##b
#define HOLDFAST_JOIN(a, b) HOLDFAST_JOIN_(a, b)
#define TRY(declaration, expression) TRY_IN(HOLDFAST_JOIN(try_result_, __LINE__), declaration, expression)
#define TRY_IN(result, declaration, expression)                               \
  auto result = (expression);                                                 \
  if (!result.has_value()) return std::unexpected(std::move(result).error()); \
  declaration = *std::move(result)
#define TRY_VOID(expression) \
  if (auto try_result = (expression); !try_result.has_value()) return std::unexpected(std::move(try_result).error())
