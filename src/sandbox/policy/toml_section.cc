#include "sandbox/policy/toml_section.h"

#include <fmt/format.h>

namespace holdfast::sandbox {
namespace {

std::unexpected<Error> Refuse(std::string reason) { return Fail(ErrorKind::kInvalidParams, std::move(reason)); }

// Returns the key as TOML spells it: in quotes unless it is a bare key.
std::string Quoted(const toml::key& key) {
  constexpr std::string_view bare = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";
  const std::string_view name = key.str();
  const bool is_bare = !name.empty() && name.find_first_not_of(bare) == std::string_view::npos;
  return fmt::format("{}{}{}", is_bare ? "" : "\"", name, is_bare ? "" : "\"");
}

std::string Joined(std::string_view path, const toml::key& key) {
  return path.empty() ? Quoted(key) : fmt::format("{}.{}", path, Quoted(key));
}

}  // namespace

std::unexpected<Error> TomlSection::BadKey(const toml::key& key, std::string_view reason) const {
  return Refuse(fmt::format("profile {}:{}: {}: {}", file_name, key.source().begin.line, Joined(path, key), reason));
}

Result<TomlSection> TomlSection::Below(const toml::key& key, const toml::node& node) const {
  const toml::table* below = node.as_table();
  if (below == nullptr) return BadKey(key, "expected a table");
  return TomlSection{file_name, Joined(path, key), *below};
}

std::optional<TomlSection::Member> TomlSection::Find(std::string_view name) const {
  const auto found = table.find(name);
  if (found == table.end()) return std::nullopt;
  return Member(found->first, &found->second);
}

Result<std::string> StringIn(const toml::node& node) {
  const toml::value<std::string>* text = node.as_string();
  if (text == nullptr) return Refuse("expected a string");
  return text->get();
}

Result<bool> FlagIn(const toml::node& node) {
  const toml::value<bool>* flag = node.as_boolean();
  if (flag == nullptr) return Refuse("expected true or false");
  return flag->get();
}

}  // namespace holdfast::sandbox
