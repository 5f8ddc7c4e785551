// The description of this machine that a client gets when it connects, with the build of the server and the shell that
// it announces.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "wire/session_messages.h"

namespace holdfast::exec_server {

// The `providerId` identifies the build of this server. A client may use it to look up what is known about the build.
// It is an opaque text and proves nothing, because a server can send any text.

// Returns "sha256:" and 64 hex digits: a digest of the version and of the program's build id (base/build_id.h). The
// result is empty without a build id, because builds that cannot be distinguished must not share an id.
std::optional<std::string> ProviderId(std::string_view version, std::string_view build_id);

// The announced shell is the one with which clients are asked to run commands.
//
// Clients recognize bash, zsh and sh by the last part of the path. If the server announces any other shell, a client
// ignores it and runs commands with the shell of its own machine, at the path that the shell has there. So the server
// announces the login shell of its user only if clients recognize it and it can be executed; otherwise bash, because
// models write commands for bash; otherwise sh.

// Returns the shell to announce. `login_shell` is the entry of the user database: it may be empty, and the file need
// not exist. If it cannot be announced, the first of `directories` with a bash decides, or else the first with an sh.
// If no directory has either, the result is `/bin/sh`.
wire::Shell AnnouncedShell(std::string_view login_shell, std::span<const std::string> directories);

// Returns the directories to look for shells in. The usual directories come first, so that `search_path` makes no
// difference on an ordinary machine. The absolute directories of `search_path`, which has the format of $PATH, follow.
// Relative ones are left out, because their contents depend on the directory that the server was started in.
std::vector<std::string> ShellDirectories(std::string_view search_path);

wire::EnvironmentInfo DescribeEnvironment();

}  // namespace holdfast::exec_server
