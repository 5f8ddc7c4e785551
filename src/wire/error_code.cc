#include "wire/error_code.h"

namespace holdfast::wire {

int ErrorCode(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::kNotJson:
      return -32700;
    case ErrorKind::kInvalidRequest:
    // Clients treat -32600 as "invalid input", and a denied path is an invalid input to them.
    case ErrorKind::kPermissionDenied:
    case ErrorKind::kLimit:
      return -32600;
    case ErrorKind::kUnknownMethod:
      return -32601;
    case ErrorKind::kInvalidParams:
      return -32602;
    case ErrorKind::kNotFound:
      return -32004;
    case ErrorKind::kSessionAttached:
      return -32010;
    case ErrorKind::kNoSuchProgram:
    case ErrorKind::kCannotExecute:
    case ErrorKind::kSystem:
    case ErrorKind::kInternal:
    case ErrorKind::kDisconnected:
    case ErrorKind::kTimeout:
      return -32603;
  }
  return -32603;
}

std::string_view ErrorName(ErrorKind kind) {
  if (kind == ErrorKind::kNoSuchProgram) return "noSuchProgram";
  if (kind == ErrorKind::kCannotExecute) return "cannotExecute";
  return {};
}

ErrorKind KindOf(int64_t code, std::string_view name) {
  for (const ErrorKind kind : {ErrorKind::kNoSuchProgram, ErrorKind::kCannotExecute}) {
    if (ErrorCode(kind) == code && ErrorName(kind) == name) return kind;
  }
  for (const ErrorKind kind : {ErrorKind::kInvalidRequest, ErrorKind::kUnknownMethod, ErrorKind::kInvalidParams,
                               ErrorKind::kNotFound, ErrorKind::kSessionAttached}) {
    if (ErrorCode(kind) == code) return kind;
  }
  return ErrorKind::kSystem;
}

}  // namespace holdfast::wire
