#include "process/command/environment.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <map>
#include <span>
#include <string_view>

#include "base/ascii.h"

namespace holdfast::process {
namespace {

using Variables = std::map<std::string, std::string, std::less<>>;

constexpr std::array<std::string_view, 11> kCoreNames = {"PATH", "SHELL",  "TMPDIR",   "TEMP",    "TMP", "HOME",
                                                         "LANG", "LC_ALL", "LC_CTYPE", "LOGNAME", "USER"};

// Patterns of names that usually carry credentials.
const std::vector<std::string> kDefaultExcludes = {"*KEY*", "*SECRET*", "*TOKEN*"};

// After a mismatch only the last star is tried again, one byte further. An earlier star has already matched as little
// as it can, and matching more would not help. The time is therefore at most |pattern| * |name|, whatever the number of
// stars.
bool MatchesGlob(std::string_view pattern, std::string_view name) {
  constexpr size_t none = std::string_view::npos;
  size_t p = 0, n = 0, last_star = none, star_end = 0;
  while (n < name.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      last_star = p++;
      star_end = n;
    } else if (p < pattern.size() && (pattern[p] == '?' || AsciiLower(pattern[p]) == AsciiLower(name[n]))) {
      ++p;
      ++n;
    } else if (last_star != none) {
      p = last_star + 1;
      n = ++star_end;
    } else {
      return false;
    }
  }
  return std::ranges::all_of(pattern.substr(p), [](char c) { return c == '*'; });
}

bool MatchesAny(std::span<const std::string> patterns, std::string_view name) {
  return std::ranges::any_of(patterns, [name](const std::string& pattern) { return MatchesGlob(pattern, name); });
}

void DropMatches(Variables& variables, std::span<const std::string> patterns) {
  std::erase_if(variables, [patterns](const auto& variable) { return MatchesAny(patterns, variable.first); });
}

void KeepMatches(Variables& variables, std::span<const std::string> patterns) {
  std::erase_if(variables, [patterns](const auto& variable) { return !MatchesAny(patterns, variable.first); });
}

void Insert(Variables& variables, const Environment& more) {
  for (const auto& [name, value] : more) variables.insert_or_assign(name, value);
}

Variables Inherited(EnvPolicy::Inherit inherit, const Environment& server_env) {
  Variables variables;
  if (inherit == EnvPolicy::Inherit::kNone) return variables;
  Insert(variables, server_env);
  if (inherit == EnvPolicy::Inherit::kCore) {
    std::erase_if(variables, [](const auto& variable) {
      return std::ranges::find(kCoreNames, variable.first) == kCoreNames.end();
    });
  }
  return variables;
}

}  // namespace

Environment BuildEnvironment(const EnvPolicy& policy, const Environment& server_env, const Environment& overlay) {
  Variables variables = Inherited(policy.inherit, server_env);
  if (!policy.ignore_default_excludes) DropMatches(variables, kDefaultExcludes);
  DropMatches(variables, policy.exclude);
  Insert(variables, policy.set);
  if (!policy.include_only.empty()) KeepMatches(variables, policy.include_only);
  Insert(variables, overlay);
  return {variables.begin(), variables.end()};
}

Environment CurrentEnvironment() {
  Variables variables;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    const size_t equals = text.find('=');
    if (equals == 0 || equals == std::string_view::npos) continue;
    variables.try_emplace(std::string(text.substr(0, equals)), text.substr(equals + 1));
  }
  return {variables.begin(), variables.end()};
}

}  // namespace holdfast::process
