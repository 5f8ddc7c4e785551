#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <memory>

#include <fmt/format.h>

#include "base/toml.h"
#include "exec_server/config.h"
#include "exec_server/config_settings.h"

namespace holdfast::exec_server {
namespace {

Result<std::string> ReadFile(const std::string& path) {
  const std::unique_ptr<FILE, int (*)(FILE*)> file(std::fopen(path.c_str(), "rbe"), &std::fclose);
  if (file == nullptr) return std::unexpected(ErrnoError("open", path, errno));
  std::string text;
  char block[4096];
  while (const size_t got = std::fread(block, 1, sizeof block, file.get())) text.append(block, got);
  if (std::ferror(file.get()) != 0) return std::unexpected(ErrnoError("read", path, errno));
  return text;
}

std::unexpected<Error> BadConfig(std::string_view file, toml::source_position at, std::string_view reason) {
  return Fail(ErrorKind::kInvalidParams, fmt::format("config {}:{}: {}", file, at.line, reason));
}

std::string_view TypeName(toml::node_type type) {
  switch (type) {
    case toml::node_type::table:
      return "a table";
    case toml::node_type::array:
      return "an array";
    case toml::node_type::floating_point:
      return "a fraction";
    default:
      return "a date or time";
  }
}

SettingValue ValueOf(const toml::node& node) {
  if (const auto* flag = node.as_boolean()) return flag->get();
  if (const auto* number = node.as_integer()) return number->get();
  if (const auto* text = node.as_string()) return text->get();
  return OtherType{TypeName(node.type())};
}

Result<> AssignEntry(std::string_view file, const toml::key& key, const toml::node& node, Config& config) {
  const auto setting = std::ranges::find(Settings(), key.str(), &Setting::key);
  if (setting == Settings().end()) {
    return BadConfig(file, key.source().begin, fmt::format("unknown key \"{}\"", key.str()));
  }
  if (const Result<> assigned = Assign(*setting, ValueOf(node), config); !assigned) {
    return BadConfig(file, key.source().begin, fmt::format("{}: {}", key.str(), assigned.error().message));
  }
  return {};
}

}  // namespace

Result<Config> ParseConfig(std::string_view toml, std::string_view file_name, Config base) {
  const toml::parse_result parsed = toml::parse(toml, file_name);
  if (!parsed) return BadConfig(file_name, parsed.error().source().begin, parsed.error().description());
  for (const auto& [key, node] : parsed.table()) TRY_VOID(AssignEntry(file_name, key, node, base));
  return base;
}

Result<Config> LoadConfigFile(const std::string& path, Config base) {
  TRY(const std::string toml, ReadFile(path));
  return ParseConfig(toml, path, std::move(base));
}

}  // namespace holdfast::exec_server
