// The names of shared sessions.
#pragma once

#include <string_view>

namespace holdfast::exec_server {

// A name has 1 to 64 characters of A-Z, a-z, 0-9, dot, underscore and hyphen, and is not `.` or `..`, so that it can
// be written in a shell and be a file name.
bool IsSessionName(std::string_view name);

}  // namespace holdfast::exec_server
