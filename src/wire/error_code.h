// These functions translate between ErrorKind and JSON-RPC error codes. No other code knows the codes. Several kinds
// share a code; some of those that clients have to tell apart have a name too, which travels in the error's `data`.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "base/result.h"

namespace holdfast::wire {

int ErrorCode(ErrorKind kind);

// The errors that clients can tell apart, for the description of the protocol. Each stands for all kinds with its code
// and its name in `data`.
struct KnownError {
  ErrorKind kind;
  std::string_view name, meaning;
};
inline constexpr auto kKnownErrors = std::to_array<KnownError>({
    {ErrorKind::kNotJson, "NotJson", "The message is not JSON."},
    {ErrorKind::kInvalidRequest, "InvalidRequest",
     "The request is not possible now: a limit, a denied file, an unknown process or session, or a wrong order."},
    {ErrorKind::kUnknownMethod, "UnknownMethod", "There is no such method."},
    {ErrorKind::kInvalidParams, "InvalidParams", "The params cannot be decoded, or ask for something impossible."},
    {ErrorKind::kSystem, "Failed", "The operation failed: a system call, an HTTP request, or the start of a command."},
    {ErrorKind::kNoSuchProgram, "NoSuchProgram", "The command was not started, because its program does not exist."},
    {ErrorKind::kCannotExecute, "CannotExecute",
     "The command was not started, because its program cannot be executed."},
    {ErrorKind::kNotFound, "NotFound", "The file or the file handle does not exist."},
    {ErrorKind::kSessionAttached, "SessionAttached", "The session is attached to another connection, which answers."},
});

// Returns the name of a kind as `data.kind` has it; empty if the code says enough.
std::string_view ErrorName(ErrorKind kind);

// Returns a kind that has this code, or kSystem if the code is not known. The kind is the one with this name, if one
// with this code has it.
ErrorKind KindOf(int64_t code, std::string_view name = {});

}  // namespace holdfast::wire
