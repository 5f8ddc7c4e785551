// The streams of a process by their names in the protocol.
#pragma once

#include "process/output_log.h"
#include "wire/process_messages.h"

namespace holdfast::exec_server {

constexpr wire::Stream ToWire(process::Stream stream) {
  switch (stream) {
    case process::Stream::kStdout:
      return wire::Stream::kStdout;
    case process::Stream::kStderr:
      return wire::Stream::kStderr;
    case process::Stream::kTerminal:
      return wire::Stream::kPty;
  }
  return wire::Stream::kStdout;
}

}  // namespace holdfast::exec_server
