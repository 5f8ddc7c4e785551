// The tool search finds programs that the sandbox itself uses, by $PATH. It accepts a program only where no ordinary
// user and no command, under this policy or an earlier one, can have put it. Every directory on the way to the program
// counts, also those that links lead through: only root may be able to write them.
//
// What it does not stop: commands of root that may write the system's own directories. When a policy lets a command
// write such a directory, no program in it is used for that start, but a program that a command left there is used for
// the next. Such a command could as well change the shell or the C library, and nothing outside is safe from it.
#pragma once

#include <sys/types.h>

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::sandbox {

// The conditions under which a program is trusted.
struct ToolTrust {
  uid_t owner = 0;                   // the only user that may write the program and the directories above it
  std::string top = "/";             // directories above this one are not checked
  std::vector<std::string> only_in;  // the directories that may have the program, links followed; empty: any
};

// Returns the conditions for a user. Root owns the files that its commands make, so for root only directories count
// that the system's packages fill.
ToolTrust TrustOf(uid_t user);

struct ToolSearch {
  std::string_view name;
  std::string_view path_variable;          // directories with colons between them; relative ones are left out
  std::span<const std::string> untrusted;  // absolute directories or files of the command; "/" has no effect
  ToolTrust trust;
};

// Returns the first trusted program for which `accept` returns true, as a path without links.
std::optional<std::string> FindTool(const ToolSearch& search,
                                    const std::function<bool(const std::string& path)>& accept);

struct DistrustedTool {
  std::string path;    // without links
  std::string reason;  // "/tmp can be written by others"
};

// Returns the first program of that name if it is not trusted. It tells a user why that program is not used.
std::optional<DistrustedTool> FirstIfDistrusted(const ToolSearch& search);

}  // namespace holdfast::sandbox
