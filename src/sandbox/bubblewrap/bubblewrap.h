// The bubblewrap backend finds a bubblewrap program and translates a NamespacePlan into its arguments.
//
// What bubblewrap does not stop by itself: the use of open descriptors and of dangerous system calls. It does not pass
// signals to the command either. The inner stage, which bubblewrap starts as pid 1, does all of this.
#pragma once

#include <unistd.h>

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "base/owned_fd.h"
#include "base/result.h"
#include "sandbox/bubblewrap/tool_search.h"
#include "sandbox/plan/plan.h"

namespace holdfast::sandbox {

// The options that plans need and not every version of bubblewrap has. The system's bubblewrap is used only if it has
// all of them.
inline constexpr std::array<std::string_view, 4> kNeededOptions = {"--perms", "--as-pid-1", "--ro-bind-data", "--args"};

// Returns the needed options that a program lacks. `program_text` is the content of its file: it contains the names of
// all options that the program knows, so the program need not be run to find out.
std::vector<std::string_view> MissingOptions(std::string_view program_text);

// A bubblewrap that has the needed options. It is executed by its descriptor, so that the program which was checked is
// the program that runs.
struct Bubblewrap {
  OwnedFd program;
  std::string path;  // for messages
};

struct BubblewrapSearch {
  std::string path_variable;               // $PATH
  std::vector<std::string> untrusted;      // directories of commands; programs in them are not used
  ToolTrust trust = TrustOf(::geteuid());  // the trust in programs of the system
  std::string own_directory;               // that of the running program; holdfast-resources/bwrap is looked for in it
  std::string_view bundled_sha256;         // the digest of the bundled one; empty or all zeros: not checked
};

// Returns the system's bubblewrap if there is one, and otherwise the bundled one; kNotFound when there is neither.
// Fails when the bundled one does not have the expected digest.
Result<Bubblewrap> FindBubblewrap(const BubblewrapSearch& search);

// The arguments of bubblewrap, and the descriptors that they name. The descriptors stay open until bubblewrap runs.
struct BubblewrapArguments {
  std::vector<std::string> list;
  std::vector<OwnedFd> fds;  // inherited by bubblewrap: the content of empty files
};

// bubblewrap accepts the first of these two arguments only together with the second. With the first one alone it gives
// up before it does anything.
inline constexpr const char* kNeedsGateArgument = "--as-pid-1";
inline constexpr const char* kGateArgument = "--unshare-pid";

// Returns all arguments up to the `--` before the inner stage's program, except for these two.
Result<BubblewrapArguments> ArgumentsFor(const NamespacePlan& plan);

}  // namespace holdfast::sandbox
