// A policy with every place and pattern turned into paths: what holds for one start of one command. Looks at the file
// system, which may change afterwards; what is not there is named too.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "sandbox/policy/policy.h"

namespace holdfast::sandbox {

struct Rule {
  std::string path;  // absolute, normalised by name, links as they were written
  Access access = Access::kRead;
  IfMissing if_missing = IfMissing::kProtect;

  friend bool operator==(const Rule&, const Rule&) = default;
};

struct Resolution {
  bool unrestricted = false;                   // no rules: everything may be read and written
  bool minimal = false;                        // the system's directories are readable
  std::vector<Rule> rules;                     // explicit ones, and those that protect; without patterns
  std::vector<std::string> denied_by_pattern;  // what the patterns matched, and where their links lead
  Network network = Network::kRestricted;
};

// The directories in which a command, this one or one before it, could have put a program: `project`, those that may be
// written, and the current one.
std::vector<std::string> UntrustedDirectories(const Resolution& resolution, std::vector<std::string> project);

// Which of two accesses counts where rules about one place differ: deny before write before read.
bool Outranks(Access access, Access other);

// By the rule with the most components that is a prefix of `path`; of equals the one that outranks; none: deny.
Access AccessTo(const Resolution& resolution, std::string_view path);

}  // namespace holdfast::sandbox
