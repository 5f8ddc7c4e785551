#include "codex_config/toml_selection.h"

#include <span>
#include <sstream>

namespace holdfast::codex_config {
namespace {

// Copies the value at `path` from one table to the other.
void CopyPath(const toml::table& from, std::span<const std::string> path, toml::table& to) {
  const toml::table* source = &from;
  toml::table* target = &to;
  for (; !path.empty(); path = path.subspan(1)) {
    const toml::node* const node = source->get(path.front());
    if (node == nullptr) return;
    const toml::table* const inner = node->as_table();
    if (inner == nullptr || path.size() == 1) {
      target->insert_or_assign(path.front(), *node);
      return;
    }
    toml::node* const known = target->get(path.front());
    target =
        known != nullptr ? known->as_table() : target->insert(path.front(), toml::table()).first->second.as_table();
    source = inner;
  }
}

// Returns whether there is a value at the path, or at its beginning.
bool Has(const toml::table& table, std::span<const std::string> path) {
  const toml::table* at = &table;
  for (const std::string& key : path) {
    const toml::node* const node = at->get(key);
    if (node == nullptr) return false;
    at = node->as_table();
    if (at == nullptr) return true;
  }
  return true;
}

}  // namespace

toml::table Select(const toml::table& table, const std::vector<std::vector<std::string>>& paths) {
  toml::table selected;
  for (const auto& path : paths) {
    if (Has(table, path)) CopyPath(table, path, selected);
  }
  return selected;
}

std::string TomlText(const toml::table& table) {
  std::ostringstream text;
  text << toml::toml_formatter(table, toml::format_flags::none);
  return std::move(text).str() + "\n";
}

}  // namespace holdfast::codex_config
