#include "sandbox/resolve/resolution.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <climits>
#include <utility>

#include "base/paths.h"

namespace holdfast::sandbox {
namespace {

int Precedence(Access access) {
  if (access == Access::kDeny) return 2;
  return access == Access::kWrite ? 1 : 0;
}

}  // namespace

std::vector<std::string> UntrustedDirectories(const Resolution& resolution, std::vector<std::string> project) {
  std::vector<std::string> places = std::move(project);
  for (const Rule& rule : resolution.rules) {
    if (rule.access == Access::kWrite) places.push_back(rule.path);
  }
  std::array<char, PATH_MAX> cwd;
  if (::getcwd(cwd.data(), cwd.size())) places.emplace_back(cwd.data());
  return places;
}

bool Outranks(Access access, Access other) { return Precedence(access) > Precedence(other); }

Access AccessTo(const Resolution& resolution, std::string_view path) {
  if (resolution.unrestricted) return Access::kWrite;
  const auto covers_path = [path](std::string_view denied) { return IsAtOrBelow(path, denied); };
  if (std::ranges::any_of(resolution.denied_by_pattern, covers_path)) return Access::kDeny;

  const Rule* best = nullptr;
  for (const Rule& rule : resolution.rules) {
    if (!IsAtOrBelow(path, rule.path)) continue;
    // All rules that cover `path` name it or directories above it, so the longest text has the most components.
    const bool is_better = best == nullptr || rule.path.size() > best->path.size() ||
                           (rule.path.size() == best->path.size() && Outranks(rule.access, best->access));
    if (is_better) best = &rule;
  }
  return best ? best->access : Access::kDeny;
}

}  // namespace holdfast::sandbox
