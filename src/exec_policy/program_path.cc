#include "exec_policy/program_path.h"

#include <algorithm>
#include <climits>
#include <vector>

#include <fmt/format.h>

#include "base/paths.h"

namespace holdfast::exec_policy {

std::string Folded(std::string_view path) {
  std::vector<std::string_view> kept;
  for (const std::string_view name : NamesIn(path)) {
    if (name != "..") {
      kept.push_back(name);
    } else if (!kept.empty()) {
      kept.pop_back();
    }
  }
  std::string folded;
  for (const std::string_view name : kept) folded.append("/").append(name);
  return folded.empty() ? "/" : folded;
}

bool GoesUp(std::string_view path) { return std::ranges::count(NamesIn(path), "..") > 0; }

std::optional<std::string> PathOfProgram(std::string_view program, const Places& places) {
  if (program.empty() || program.size() >= PATH_MAX) return std::nullopt;
  if (program.starts_with('/')) return Folded(program);
  if (program == "~" || program.starts_with("~/")) return Folded(fmt::format("{}/{}", places.home, program.substr(1)));
  return Folded(fmt::format("{}/{}", places.cwd, program));
}

}  // namespace holdfast::exec_policy
