// These functions append JSON text to a string. Text that is not UTF-8, such as a file name in an error message, is
// written with U+FFFD in place of each bad byte, because a WebSocket text frame must be valid UTF-8.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "wire/json.h"

namespace holdfast::wire {

void AppendString(std::string& out, std::string_view text);   // quoted and escaped
void AppendBase64(std::string& out, std::string_view bytes);  // quoted
void AppendInt(std::string& out, int64_t number);
void AppendUint(std::string& out, uint64_t number);

// Appends a parsed value, with its members in their order and without spaces. Numbers are written as they came.
void AppendJson(std::string& out, Json json);

}  // namespace holdfast::wire
