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

// The character that ends the input of a program on the terminal.
struct EndOfFile {
  char character;
  // Whether the kernel edits lines and interprets the character. Otherwise the program reads the character, as a shell
  // with its own line editor does.
  bool line_editing;
};

Result<EndOfFile> EndOfFileOf(int master);

}  // namespace holdfast::sys
