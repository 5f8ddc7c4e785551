#include "exec_policy/host_executables.h"

#include <climits>
#include <utility>

#include <fmt/format.h>

#include "base/paths.h"

namespace holdfast::exec_policy {
namespace {

// Folds `.`, `..` and empty names of an absolute path.
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

bool IsBareName(std::string_view name) { return !name.empty() && name != "." && name != ".." && !name.contains('/'); }

std::string Absolute(std::string_view program, const Places& places) {
  if (program.starts_with('/')) return Folded(program);
  if (program == "~" || program.starts_with("~/")) return Folded(fmt::format("{}/{}", places.home, program.substr(1)));
  return Folded(fmt::format("{}/{}", places.cwd, program));
}

}  // namespace

Result<> HostExecutables::Define(std::string name, const std::vector<std::string>& paths) {
  if (!IsBareName(name)) {
    return Fail(ErrorKind::kInvalidParams, fmt::format("`{}` is not the bare name of a program", name));
  }
  std::set<std::string, std::less<>> folded;
  for (const std::string& path : paths) {
    if (path.size() >= PATH_MAX) {
      return Fail(ErrorKind::kInvalidParams,
                  fmt::format("a path of {} bytes is longer than a path can be", path.size()));
    }
    if (!path.starts_with('/')) {
      return Fail(ErrorKind::kInvalidParams, fmt::format("the path `{}` is not absolute", path));
    }
    std::string one = Folded(path);
    if (NameOf(one) != name) {
      return Fail(ErrorKind::kInvalidParams, fmt::format("the path `{}` does not end in the name `{}`", path, name));
    }
    folded.insert(std::move(one));
  }
  paths_.insert_or_assign(std::move(name), std::move(folded));
  return {};
}

bool HostExecutables::Allow(std::string_view path) const {
  const auto defined = paths_.find(NameOf(path));
  return defined == paths_.end() || defined->second.contains(path);
}

std::optional<std::string> HostExecutables::Resolve(std::string_view program, const Places& places) const {
  if (program.empty() || program.size() >= PATH_MAX) return std::nullopt;
  std::string path = Absolute(program, places);
  if (!Allow(path)) return std::nullopt;
  return path;
}

}  // namespace holdfast::exec_policy
