// A resolution is a policy with every place and pattern turned into paths, for one start of one command. It describes
// the file system at the time when it was made. It can also name paths that do not exist.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "sandbox/policy/policy.h"

namespace holdfast::sandbox {

struct Rule {
  std::string path;  // absolute, without `.` and `..`; links are not followed
  Access access = Access::kRead;
  IfMissing if_missing = IfMissing::kProtect;

  friend bool operator==(const Rule&, const Rule&) = default;
};

// Files that belong to repositories inside of a project, and that only some backends can protect (MountsBy in
// plan_options.h). The paths have no links, apart from the last names in `links`.
struct NestedGit {
  std::vector<std::string> elsewhere;  // git directories that lie elsewhere than in `.git`, and pointers to them
  std::vector<std::string> links;      // each `.git` that is a link
};

// Where protected names lead that are links in writable directories. The names lead there as long as these files stay
// where they are. The paths have no links, apart from the last names in `links`.
struct KeptWays {
  std::vector<std::string> links;        // the names, and the links behind them
  std::vector<std::string> directories;  // those that the texts of the links leave by `..`
};

struct Resolution {
  bool unrestricted = false;                   // everything may be read and written; there are no rules
  bool minimal = false;                        // the minimal system directories may be read
  std::vector<Rule> rules;                     // those of the policy, and those for protected paths
  std::vector<std::string> denied_by_pattern;  // the matches of patterns, and the targets of links among them
  NestedGit nested_git = {};                   // to be read, and not to be replaced
  KeptWays kept = {};                          // not to be replaced; rules about what they lead to are among `rules`
  // Where the paths of rules led when the protected paths were found. A plan fails if one of them leads elsewhere by
  // then: the protected paths would be those of another place.
  std::map<std::string, std::string> led_to = {};
  Network network = Network::kRestricted;
};

// Returns the directories in which a sandboxed command, this one or an earlier one, could have put a program:
// `project`, the paths of write rules, and the current directory.
std::vector<std::string> UntrustedDirectories(const Resolution& resolution, std::vector<std::string> project);

// Returns whether `access` wins over `other` where two rules are about the same path. Deny wins over write, and write
// over read.
bool Outranks(Access access, Access other);

// Returns the access to `path`. The rule with the longest path at or above `path` decides; of several rules for that
// path the one whose access outranks the others. Without such a rule the access is denied.
Access AccessTo(const Resolution& resolution, std::string_view path);

}  // namespace holdfast::sandbox
