// The properties of the terminal that the user sits at.
#pragma once

#include <optional>

#include "sys/pty.h"

namespace holdfast::cli {

bool IsTerminal(int fd);

// Returns the size of the terminal's window; nothing if `fd` is no terminal.
std::optional<sys::WindowSize> WindowSizeOf(int fd);

// Returns whether text on `fd` may have colours: it is a terminal that has them, and NO_COLOR is not set.
bool HasColours(int fd);

}  // namespace holdfast::cli
