#include "rpc/error_code.h"

namespace holdfast::rpc {

int ErrorCode(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::kInvalidRequest:
    case ErrorKind::kPermissionDenied:  // clients map -32600 to "invalid input", which is what a denied path is to them
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
      return -32603;
  }
  return -32603;
}

}  // namespace holdfast::rpc
