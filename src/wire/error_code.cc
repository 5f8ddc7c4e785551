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
    case ErrorKind::kSystem:
    case ErrorKind::kInternal:
    case ErrorKind::kDisconnected:
    case ErrorKind::kTimeout:
      return -32603;
  }
  return -32603;
}

ErrorKind KindOf(int64_t code) {
  for (const ErrorKind kind : {ErrorKind::kInvalidRequest, ErrorKind::kUnknownMethod, ErrorKind::kInvalidParams,
                               ErrorKind::kNotFound, ErrorKind::kSessionAttached}) {
    if (ErrorCode(kind) == code) return kind;
  }
  return ErrorKind::kSystem;
}

}  // namespace holdfast::wire
