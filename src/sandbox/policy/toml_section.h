// A TomlSection is a table of a profile file, with the name by which error messages call it.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"
#include "base/toml.h"

namespace holdfast::sandbox {

struct TomlSection {
  std::string_view file_name;
  std::string path;  // such as "permissions.work"; empty for the file itself
  const toml::table& table;

  // Returns an error that names the file, the line and the key.
  std::unexpected<Error> BadKey(const toml::key& key, std::string_view reason) const;

  // Returns the table that is the member `key`. Fails if `node`, the value of that member, is not a table.
  Result<TomlSection> Below(const toml::key& key, const toml::node& node) const;

  // A member together with its key, because the key knows the line that it is in.
  using Member = std::pair<toml::key, const toml::node*>;
  std::optional<Member> Find(std::string_view name) const;
};

// Returns the value of a node; the errors are only the reason, such as "expected a string".
Result<std::string> StringIn(const toml::node& node);
Result<bool> FlagIn(const toml::node& node);

}  // namespace holdfast::sandbox
