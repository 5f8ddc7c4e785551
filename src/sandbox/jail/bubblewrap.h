// The bubblewrap backend: which program it is, and a Plan as its arguments.
//
// What it does not do by itself: close descriptors, filter system calls, give a signal to the command. The inner stage
// does, which bubblewrap starts as pid 1.
#pragma once

#include <unistd.h>

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "base/owned_fd.h"
#include "base/result.h"
#include "sandbox/jail/tool_search.h"
#include "sandbox/plan/plan.h"

namespace holdfast::sandbox {

// What plans need and not every version has. The system's bubblewrap is used only if it has all of them.
inline constexpr std::array<std::string_view, 4> kNeededOptions = {"--perms", "--as-pid-1", "--ro-bind-data", "--args"};

// Those that a program lacks. What it can do stands in its own text, among the options it compares with: nothing needs
// to be run to find out.
std::vector<std::string_view> MissingOptions(std::string_view program_text);

// A bubblewrap that can do what plans need. It is executed through the descriptor, so what was checked is what runs.
struct Bubblewrap {
  OwnedFd program;
  std::string path;  // for messages
};

struct BubblewrapSearch {
  std::string path_variable;               // $PATH
  std::vector<std::string> untrusted;      // places of commands: programs in them are not used
  ToolTrust trust = TrustOf(::geteuid());  // in the system's
  std::string own_directory;               // of the running program: holdfast-resources/bwrap is looked for in it
  std::string_view bundled_sha256;         // of the bundled one; empty or all zeros: not checked
};

// The system's if there is one, else the bundled one; kNotFound when there is neither. A bundled one that has another
// digest than it should is refused.
Result<Bubblewrap> FindBubblewrap(const BubblewrapSearch& search);

// Descriptors that the arguments name. They stay open until bubblewrap is running.
struct BubblewrapArguments {
  std::vector<std::string> words;
  std::vector<OwnedFd> fds;  // inherited by bubblewrap: the content of empty files
};

// Everything up to the `--` before the inner stage's program, but for these two. Each is an error without the other:
// with only the first one given, bubblewrap does nothing.
inline constexpr const char* kNeedsGateWord = "--as-pid-1";
inline constexpr const char* kGateWord = "--unshare-pid";
Result<BubblewrapArguments> ArgumentsFor(const Plan& plan);

}  // namespace holdfast::sandbox
