// The properties of the terminal that the user sits at.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "sys/pty.h"

namespace holdfast::cli {

bool IsTerminal(int fd);

// Returns the size of the terminal's window; nothing if `fd` is not a terminal.
std::optional<sys::WindowSize> WindowSizeOf(int fd);

// Returns whether text on `fd` may have colours: it is a terminal that has them, and NO_COLOR is not set.
bool HasColours(int fd);

// The bytes that take a terminal out of whatever state the output of a command has put it into, for text that the user
// must be able to trust. The command's output before them may have ended in the middle of a control sequence, chosen
// invisible colours, another character set or the alternate screen, or asked for reports of the mouse.
//
// What they do not undo: fonts, images and badges of single kinds of terminals, and the title, which becomes empty. The
// command does not learn that its modes are gone.

// Returns the bytes that end unfinished sequences and set every mode to that of a fresh terminal.
std::string_view ResetOfModes();

// Returns the bytes after which a terminal of this height is in a known state, and empty, with the cursor in its first
// line. The lines that it has shown are moved into its history, where it has one.
std::string CleanScreen(int rows);

}  // namespace holdfast::cli
