#include "exec_policy/host_executables.h"

#include <climits>
#include <utility>

#include <fmt/format.h>

#include "base/paths.h"
#include "exec_policy/program_path.h"

namespace holdfast::exec_policy {
namespace {

bool IsBareName(std::string_view name) { return !name.empty() && name != "." && name != ".." && !name.contains('/'); }

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

HostExecutables::Listing HostExecutables::ListingOf(std::string_view path) const {
  const auto defined = paths_.find(NameOf(path));
  if (defined == paths_.end()) return Listing::kNone;
  return defined->second.contains(path) ? Listing::kListed : Listing::kExcluded;
}

}  // namespace holdfast::exec_policy
