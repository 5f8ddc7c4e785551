// The shell that clients are told to run commands with.
//
// Clients know bash, zsh and sh, by the last part of the path. Of any other shell they make none: they then run
// commands with the shell of their own machine, at the path it has there. So the login shell is announced only where
// clients know it and it runs; otherwise bash, because models write commands for bash; otherwise sh.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "wire/session_messages.h"

namespace holdfast::exec_server {

// `login_shell` is as the user database has it: it may be empty, and need not exist. Another shell is taken from the
// first of `directories` that has it. Where none has any, the answer is `/bin/sh`.
wire::Shell AnnouncedShell(std::string_view login_shell, std::span<const std::string> directories);

// Where shells are looked for: the usual places first, so that what stands in `search_path` makes no difference on an
// ordinary machine; then the absolute directories of `search_path`, which is written as $PATH is. What a relative one
// has depends on the directory that the server was started in.
std::vector<std::string> ShellDirectories(std::string_view search_path);

}  // namespace holdfast::exec_server
