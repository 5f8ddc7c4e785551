// The variables a child starts with. Pure but for CurrentEnvironment: the policy, the server's variables and the
// client's own go in, the child's come out.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace holdfast::process {

// Sorted by name, each name once.
using Environment = std::vector<std::pair<std::string, std::string>>;

// Patterns are globs over whole names: `*` is any run of bytes, `?` one byte, and ASCII case does not matter.
struct EnvPolicy {
  enum class Inherit { kAll, kCore, kNone };

  Inherit inherit = Inherit::kAll;
  bool ignore_default_excludes = false;
  std::vector<std::string> exclude = {};
  std::vector<std::pair<std::string, std::string>> set = {};
  std::vector<std::string> include_only = {};  // empty: keep all
};

// The rules apply in the order of the struct; `overlay` comes last and no pattern touches it. Of a name given twice in
// one list the later value wins.
Environment BuildEnvironment(const EnvPolicy& policy, const Environment& server_env, const Environment& overlay);

// The server's own variables. Entries of environ without a name or a `=` are left out; of a name that occurs twice the
// first counts, as for getenv.
Environment CurrentEnvironment();

}  // namespace holdfast::process
