// A Result is a value or an Error, for failures that are to be expected. `Error::kind` is one of a closed list that
// callers distinguish; wire/error_code.cc maps it to a JSON-RPC code. An error message has the form `call object:
// reason`.
#pragma once

#include <cerrno>
#include <expected>
#include <string>
#include <string_view>
#include <utility>

namespace holdfast {

enum class ErrorKind {
  kNotJson,           // a message is not JSON
  kInvalidRequest,    // well formed, but not possible in this state
  kUnknownMethod,     // no such method in the table
  kInvalidParams,     // the params cannot be decoded, or have a value that can never be served
  kNotFound,          // ENOENT on a path that the client named
  kPermissionDenied,  // EACCES, EPERM
  kSessionAttached,   // the session belongs to another live connection
  kLimit,             // a configured limit is reached
  kSystem,            // any other failing system call
  kInternal,          // a mistake of the server itself
  kDisconnected,      // there is no connection to the server, or it has ended; only in clients
  kTimeout,           // the server did not answer in time; only in clients
  kNoSuchProgram,     // a command was not started, because its program does not exist
  kCannotExecute,     // a command was not started, because its program cannot be executed
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

// Returns the error of a failed system call, such as "open /etc/shadow: Permission denied". Its kind follows from the
// errno.
Error ErrnoError(std::string_view call, std::string_view object, int errno_value);

// Returns the same error as a failed Result: `return FailErrno("open", path);` right after the call that has set errno.
inline std::unexpected<Error> FailErrno(std::string_view call, std::string_view object = {}, int errno_value = errno) {
  return std::unexpected(ErrnoError(call, object, errno_value));
}

// Returns the description of an errno. Unlike strerror, it does not depend on the locale and is safe with threads.
std::string ErrnoText(int errno_value);

}  // namespace holdfast

// TRY and TRY_VOID evaluate a Result. They unwrap its value, or return its error from the enclosing function:
// `TRY(auto fd, OpenFile(path));` `TRY_VOID(Sync(fd));`
#define HOLDFAST_JOIN_(a, b) a##b
#define HOLDFAST_JOIN(a, b) HOLDFAST_JOIN_(a, b)
#define TRY(declaration, expression) TRY_IN(HOLDFAST_JOIN(try_result_, __LINE__), declaration, expression)
#define TRY_IN(result, declaration, expression)                               \
  auto result = (expression);                                                 \
  if (!result.has_value()) return std::unexpected(std::move(result).error()); \
  declaration = *std::move(result)
#define TRY_VOID(expression) \
  if (auto try_result = (expression); !try_result.has_value()) return std::unexpected(std::move(try_result).error())
