#include "sandbox/bubblewrap/tool_search.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

#include <fmt/format.h>

#include "base/paths.h"
#include "sandbox/resolve/path_walk.h"
#include "sandbox/resolve/real_path.h"

namespace holdfast::sandbox {
namespace {

// /usr/local is left out: people fill it, and commands of root may be allowed to install something there.
constexpr std::array kSystemDirectories = {"/usr/bin", "/usr/sbin", "/bin", "/sbin"};

// Returns whether the program, a path without links, is at or below the place. The place may be a single file, and is
// compared as it is written and with its links followed.
bool IsIn(std::string_view program, const std::string& place) {
  if (place == "/") return false;
  const std::optional<std::string> real = RealPath(place);
  return IsAtOrBelow(program, place) || (real && IsAtOrBelow(program, *real));
}

// Returns why users other than `owner` may write `path`, or nothing when they may not. Rights that an ACL gives to
// other users show in the group bits of the mode.
std::optional<std::string> WhyOthersMayWrite(const std::string& path, uid_t owner) {
  struct stat status;
  if (::lstat(path.c_str(), &status) < 0) return fmt::format("{} cannot be inspected", path);
  if (status.st_uid != owner) return fmt::format("{} belongs to user {}, not {}", path, status.st_uid, owner);
  if ((status.st_mode & (S_IWGRP | S_IWOTH)) != 0) return fmt::format("{} can be written by others", path);
  return std::nullopt;
}

// The same for `path`, which has no links in it, and all directories above it.
std::optional<std::string> WhyOthersMayWriteOnTheWay(std::string_view path, const ToolTrust& trust) {
  for (;; path = ParentOf(path)) {
    if (auto reason = WhyOthersMayWrite(std::string(path), trust.owner)) return reason;
    if (path == trust.top || path == "/") return std::nullopt;
  }
}

std::optional<std::string> WhyDistrusted(const PathWalk& program, const ToolSearch& search) {
  const auto is_above = [&](const std::string& place) { return IsIn(program.path, place); };
  if (std::ranges::any_of(search.untrusted, is_above)) return "commands can have put it there";
  const std::vector<std::string>& only_in = search.trust.only_in;
  if (!only_in.empty() && std::ranges::none_of(only_in, is_above)) {
    return fmt::format("root uses only programs in {}", fmt::join(only_in, ", "));
  }
  for (const CrossedLink& link : program.links) {
    if (auto reason = WhyOthersMayWriteOnTheWay(ParentOf(link.path), search.trust)) return reason;
  }
  return WhyOthersMayWriteOnTheWay(program.path, search.trust);
}

// Calls `visit` for each program of that name on the path, until it returns true.
void ForEachOnPath(const ToolSearch& search, const std::function<bool(const PathWalk& program)>& visit) {
  for (const std::string_view directory : DirectoriesIn(search.path_variable)) {
    if (!directory.starts_with('/')) continue;
    const std::string named = std::string(directory).append("/").append(search.name);
    // Most directories do not have the program. access shows that by one call, while a walk takes one for every name of
    // the path.
    if (::access(named.c_str(), F_OK) < 0) continue;
    const Result<PathWalk> walk = PathWalker().Walk(named);
    if (walk && walk->exists() && visit(*walk)) return;
  }
}

}  // namespace

ToolTrust TrustOf(uid_t user) {
  ToolTrust trust;
  if (user == 0) trust.only_in.assign(kSystemDirectories.begin(), kSystemDirectories.end());
  return trust;
}

std::optional<std::string> FindTool(const ToolSearch& search,
                                    const std::function<bool(const std::string& path)>& accept) {
  std::optional<std::string> found;
  ForEachOnPath(search, [&](const PathWalk& program) {
    if (WhyDistrusted(program, search) || !accept(program.path)) return false;
    found = program.path;
    return true;
  });
  return found;
}

std::optional<DistrustedTool> FirstIfDistrusted(const ToolSearch& search) {
  std::optional<DistrustedTool> first;
  ForEachOnPath(search, [&](const PathWalk& program) {
    if (auto reason = WhyDistrusted(program, search)) first = {program.path, *std::move(reason)};
    return true;
  });
  return first;
}

}  // namespace holdfast::sandbox
