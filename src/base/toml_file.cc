#include "base/toml_file.h"

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <memory>
#include <utility>

#include <fmt/format.h>

namespace holdfast {
namespace {

constexpr size_t kMaxFileBytes = 1u << 20;
// The limit keeps the stack from overflowing: toml++ recurses once for each part of a dotted key.
constexpr ptrdiff_t kMaxDots = 16'384;

}  // namespace

Result<std::string> ReadTomlFile(const std::string& path) {
  const std::unique_ptr<FILE, int (*)(FILE*)> file(std::fopen(path.c_str(), "rbe"), &std::fclose);
  if (file == nullptr) return FailErrno("open", path);
  std::string text;
  char block[4096];
  while (const size_t got = std::fread(block, 1, sizeof block, file.get())) {
    text.append(block, got);
    if (text.size() > kMaxFileBytes) {
      return Fail(ErrorKind::kLimit, fmt::format("read {}: longer than {} bytes", path, kMaxFileBytes));
    }
  }
  if (std::ferror(file.get()) != 0) return FailErrno("read", path);
  return text;
}

Result<toml::table> ParseToml(std::string_view text, std::string_view what, std::string_view file_name) {
  if (std::ranges::count(text, '.') > kMaxDots) {
    return Fail(ErrorKind::kLimit, fmt::format("{} {}: more than {} dots", what, file_name, kMaxDots));
  }
  toml::parse_result parsed = toml::parse(text, file_name);
  if (parsed) return std::move(parsed).table();
  const toml::parse_error& error = parsed.error();
  return Fail(ErrorKind::kInvalidParams,
              fmt::format("{} {}:{}: {}", what, file_name, error.source().begin.line, error.description()));
}

}  // namespace holdfast
