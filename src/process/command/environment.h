// The environment that a command starts with. BuildEnvironment computes it from the policy, the server's variables and
// those of the client; only CurrentEnvironment reads the environment of the process.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace holdfast::process {

// Variables sorted by name, with each name once.
using Environment = std::vector<std::pair<std::string, std::string>>;

// The rules for the environment of a command. Patterns are globs that match whole names: `*` is any run of bytes, `?`
// is one byte, and ASCII case does not matter.
struct EnvPolicy {
  enum class Inherit { kAll, kCore, kNone };

  Inherit inherit = Inherit::kAll;
  bool ignore_default_excludes = false;
  std::vector<std::string> exclude = {};
  std::vector<std::pair<std::string, std::string>> set = {};
  std::vector<std::string> include_only = {};  // if empty, all variables are kept
};

// Applies the rules in the order of the struct's members. `overlay` is added last, and no pattern affects it. If a list
// has a name twice, the later value counts.
Environment BuildEnvironment(const EnvPolicy& policy, const Environment& server_env, const Environment& overlay);

// Returns the server's own variables. Entries of environ without a name or a `=` are left out. If a name occurs twice,
// the first value counts, as for getenv.
Environment CurrentEnvironment();

}  // namespace holdfast::process
