// Programs that the sandbox itself uses, found by $PATH: only where no ordinary user and no command, under this policy
// or one before it, can have put them. Every directory on the way counts, links followed: only root may write any of
// them.
//
// What it does not stop: commands of root that may write the system's own directories. Under a policy that names one,
// nothing in it is used at that start; what a command left there is used at the next. Such a command can as well change
// the shell or the C library, so that nothing outside is safe from it.
#pragma once

#include <sys/types.h>

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::sandbox {

// Whom a program and the directories above it may belong to.
struct ToolTrust {
  uid_t owner = 0;                   // nobody else may write any of them
  std::string top = "/";             // what is above this is not looked at
  std::vector<std::string> only_in;  // where programs are, links followed; empty: anywhere
};

// Root owns what its commands make, so for root only directories count that the system's packages fill.
ToolTrust TrustOf(uid_t user);

struct ToolSearch {
  std::string_view name;
  std::string_view path_variable;          // colons between directories; relative ones are left out
  std::span<const std::string> untrusted;  // absolute places of the command; "/" is no reason for distrust
  ToolTrust trust;
};

// The first that `accept` takes of those that can be trusted; as the path it is at without links.
std::optional<std::string> FindTool(const ToolSearch& search,
                                    const std::function<bool(const std::string& path)>& accept);

struct DistrustedTool {
  std::string path;    // without links
  std::string reason;  // "/tmp can be written by others"
};

// The first that there is, if it cannot be trusted: for people who wonder why it is not used.
std::optional<DistrustedTool> FirstIfDistrusted(const ToolSearch& search);

}  // namespace holdfast::sandbox
