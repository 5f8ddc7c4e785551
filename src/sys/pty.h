// A pseudo terminal with the kernel's default settings.
#pragma once

#include <cstdint>

#include "base/owned_fd.h"
#include "base/result.h"

namespace holdfast::sys {

struct WindowSize {
  uint16_t rows = 24;
  uint16_t cols = 80;
};

struct Pty {
  OwnedFd master;  // non-blocking
  OwnedFd slave;
};

Result<Pty> OpenPty(WindowSize size);
Result<> SetWindowSize(int master, WindowSize size);

struct EndOfFile {
  char character;
  bool line_editing;  // the kernel interprets it; otherwise the program reads it, as a shell with its own editor does
};

Result<EndOfFile> EndOfFileOf(int master);

}  // namespace holdfast::sys
