// Printable makes a text of a stranger fit for a message, which may go to a terminal.
#pragma once

#include <string>
#include <string_view>

namespace holdfast::transport {

// Returns the first 200 bytes of the text, with a question mark for each that is not a printable ASCII character.
inline std::string Printable(std::string_view text) {
  std::string printable;
  for (const char c : text.substr(0, 200)) printable += c >= ' ' && c < 0x7f ? c : '?';
  return printable;
}

}  // namespace holdfast::transport
