// A policy with every place and pattern turned into paths: what holds for one start of one command. Looks at the file
// system, which may change afterwards; what is not there is named too.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "sandbox/policy.h"

namespace holdfast::sandbox {

// Where the command is to run.
struct Surroundings {
  std::string policy_cwd;                  // absolute; need not exist
  std::vector<std::string> project_roots;  // absolute; empty: policy_cwd
  std::optional<std::string> tmpdir;       // temporary_directory.h; absent: the place is nowhere
};

struct Rule {
  std::string path;  // absolute, normalised by name, links as they were written
  Access access = Access::kRead;
  IfMissing if_missing = IfMissing::kProtect;

  friend bool operator==(const Rule&, const Rule&) = default;
};

// Names in a project that tell tools what to run: `.git`, `.codex`, `.agents`, `.aws`. Directly below a writable root
// they are read-only unless a rule names them; a write rule further below opens only what it names.
extern const std::vector<std::string> kProtectedNames;

struct Resolution {
  bool unrestricted = false;                   // no rules: everything may be read and written
  bool minimal = false;                        // the system's directories are readable
  std::vector<Rule> rules;                     // explicit ones, and those that protect; without patterns
  std::vector<std::string> denied_by_pattern;  // what the patterns matched, and where their links lead
  Network network = Network::kRestricted;
};

// Fails when a pattern cannot be expanded safely, or a scan fails: nothing is run then.
Result<Resolution> Resolve(const Policy& policy, const Surroundings& surroundings);

// Where a command, this one or one before it, could have put a program: `project`, what may be written, and the current
// directory.
std::vector<std::string> PlacesOfCommands(const Resolution& resolution, std::vector<std::string> project);

// Which of two accesses counts where rules about one place differ: deny before write before read.
bool Outranks(Access access, Access other);

// By the rule with the most components that is a prefix of `path`; of equals the one that outranks; none: deny.
Access AccessTo(const Resolution& resolution, std::string_view path);

}  // namespace holdfast::sandbox
