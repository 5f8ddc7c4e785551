#include "escalate/outside/outside_environment.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <string_view>

#include <fmt/format.h>

namespace holdfast::escalate {
namespace {

using process::Environment;

// RULES.md lists them too.
constexpr std::string_view kHarmlessNames[] = {"COLORTERM", "COLUMNS",  "FORCE_COLOR", "LANG", "LANGUAGE",
                                               "LINES",     "NO_COLOR", "TERM",        "TZ"};

bool IsHarmlessName(std::string_view name) {
  constexpr std::string_view letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZ_";
  if (name.starts_with("LC_")) return name.find_first_not_of(letters) == std::string_view::npos;
  return std::ranges::find(kHarmlessNames, name) != std::end(kHarmlessNames);
}

bool IsWordCharacter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9'); }

// The C library reads files that LANG, LANGUAGE, LC_ALL and TZ name, also by an absolute path or one with "..". A slash
// behind a letter or a digit leads to neither, as in Europe/Berlin.
bool IsHarmlessValue(std::string_view value) {
  constexpr size_t max_bytes = 255;
  char before = '\0';
  for (const char c : value) {
    const bool is_allowed =
        IsWordCharacter(c) || std::string_view("_.,:;@+-<>=").contains(c) || (c == '/' && IsWordCharacter(before));
    if (!is_allowed) return false;
    before = c;
  }
  return value.size() <= max_bytes;
}

bool IsIn(const Environment& environment, const Environment::value_type& variable) {
  return std::ranges::find(environment, variable) != environment.end();
}

void Set(Environment& environment, const std::string& name, const std::string& value) {
  const auto found = std::ranges::find(environment, name, &Environment::value_type::first);
  if (found != environment.end()) {
    found->second = value;
  } else {
    environment.emplace_back(name, value);
  }
}

}  // namespace

Environment CarriedVariables(const Environment& start, std::span<const std::string> caller,
                             std::span<const std::string> listed) {
  Environment carried;
  std::set<std::string_view> seen;
  for (const std::string_view entry : caller) {
    const size_t end = entry.find('=');
    if (end == 0 || end == std::string_view::npos) continue;
    const std::string_view name = entry.substr(0, end), value = entry.substr(end + 1);
    const bool is_carried =
        std::ranges::find(listed, name) != listed.end() || (IsHarmlessName(name) && IsHarmlessValue(value));
    if (!is_carried || !seen.insert(name).second) continue;
    Environment::value_type variable(name, value);
    if (!IsIn(start, variable)) carried.push_back(std::move(variable));
  }
  std::ranges::sort(carried);
  return carried;
}

std::vector<std::string> OutsideEnvironment(const Environment& start, const Environment& carried,
                                            const std::string& directory) {
  Environment environment = start;
  for (const auto& [name, value] : carried) Set(environment, name, value);
  Set(environment, "PWD", directory);
  std::vector<std::string> entries;
  for (const auto& [name, value] : environment) entries.push_back(fmt::format("{}={}", name, value));
  return entries;
}

size_t BytesOf(const Environment& variables) {
  size_t bytes = 0;
  for (const auto& variable : variables) bytes += sizeof variable + variable.first.size() + variable.second.size();
  return bytes;
}

}  // namespace holdfast::escalate
