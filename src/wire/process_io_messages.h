// The `io` member of process/start, which tells what the standard streams of the process are connected to.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <utility>

#include "wire/encode.h"

namespace holdfast::wire {

enum class StdinMode { kOpen, kClosed };
template <>
struct EnumNames<StdinMode> {
  static constexpr std::array<std::pair<const char*, StdinMode>, 2> kNames{
      {{"open", StdinMode::kOpen}, {"closed", StdinMode::kClosed}}};
};

struct PtyIo {
  uint16_t rows = 24, cols = 80;

  void Fields(auto& f) {
    f.Required("rows", rows);
    f.Required("cols", cols);
  }
};

struct PipeIo {
  StdinMode stdin_mode = StdinMode::kClosed;

  void Fields(auto& f) { f.Required("stdin", stdin_mode); }
};

struct ProcessIo {
  std::optional<PtyIo> pty;
  std::optional<PipeIo> pipe;

  void Fields(auto& f) {
    f.Optional("pty", pty);
    f.Optional("pipe", pipe);
    if constexpr (requires { f.fault(); }) {
      if (pty.has_value() == pipe.has_value()) f.Fault("pty", "give exactly one of pty and pipe");
    }
    if constexpr (requires { f.ExactlyOne({}); }) f.ExactlyOne({"pty", "pipe"});
  }
};

}  // namespace holdfast::wire
