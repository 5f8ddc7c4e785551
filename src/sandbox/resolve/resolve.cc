#include "sandbox/resolve/resolve.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <map>
#include <unordered_set>
#include <utility>

#include <fmt/format.h>

#include "base/file_uri.h"
#include "base/paths.h"
#include "sandbox/policy/glob_parse.h"
#include "sandbox/resolve/glob_scan.h"
#include "sandbox/resolve/nested_repositories.h"
#include "sandbox/resolve/protected_paths.h"

namespace holdfast::sandbox {
namespace {

std::unexpected<Error> Refuse(std::string message) { return Fail(ErrorKind::kInvalidRequest, std::move(message)); }

Result<std::string> Normalise(std::string_view path) {
  if (!path.starts_with('/') || path.contains('\0')) return Refuse(fmt::format("path {}: is not absolute", path));
  return ParsePath(path);
}

// Returns false only for a path that certainly does not exist. A path that this process may not look at may exist.
bool MayExist(const std::string& path) {
  struct stat status{};
  return ::stat(path.c_str(), &status) == 0 || (errno != ENOENT && errno != ENOTDIR && errno != ELOOP);
}

bool IsDirectory(const char* path) {
  struct stat status{};
  return ::stat(path, &status) == 0 && S_ISDIR(status.st_mode);
}

Resolution Unrestricted() {
  Resolution resolution;
  resolution.unrestricted = true;
  return resolution;
}

// The surroundings with normalised paths.
struct Bases {
  std::vector<std::string> project_roots;  // at least one
  std::optional<std::string> tmpdir;
};

Result<Bases> BasesOf(const Surroundings& surroundings) {
  Bases bases;
  for (const std::string& root : surroundings.project_roots) {
    TRY(std::string path, Normalise(root));
    bases.project_roots.push_back(std::move(path));
  }
  if (bases.project_roots.empty()) {
    TRY(std::string path, Normalise(surroundings.policy_cwd));
    bases.project_roots.push_back(std::move(path));
  }
  if (surroundings.tmpdir && surroundings.tmpdir->starts_with('/')) {
    TRY(std::string path, Normalise(*surroundings.tmpdir));
    // TMPDIR=/ is ignored: a mistake in the environment must not make the whole file system writable.
    if (path != "/") bases.tmpdir = std::move(path);
  }
  return bases;
}

Result<std::vector<std::string>> BelowProjectRoots(const Bases& bases, const std::string& subpath) {
  std::vector<std::string> paths;
  for (const std::string& root : bases.project_roots) {
    TRY(std::string path, Normalise(fmt::format("{}/{}", root, subpath)));
    if (subpath.starts_with('/') || !IsAtOrBelow(path, root)) {
      return Refuse(fmt::format("path {}: is not below the project", subpath));
    }
    paths.push_back(std::move(path));
  }
  return paths;
}

Result<std::vector<std::string>> PathsOf(const Place& place, const Bases& bases) {
  using Paths = std::vector<std::string>;
  switch (place.kind) {
    case PlaceKind::kRoot:
      return Paths{"/"};
    case PlaceKind::kProjectRoots:
      return BelowProjectRoots(bases, place.subpath);
    case PlaceKind::kTmpDir:
      return bases.tmpdir ? Paths{*bases.tmpdir} : Paths{};
    case PlaceKind::kSlashTmp:
      return IsDirectory("/tmp") ? Paths{"/tmp"} : Paths{};
    case PlaceKind::kMinimal:
    case PlaceKind::kUnknown:
      break;
  }
  return Paths{};
}

struct PatternBase {
  std::string directory;
  std::string_view text;
};

// Returns the directories that a pattern applies to. An absolute pattern that begins with the path of a project root
// applies to that root, even where this path contains characters that would be wildcards.
std::vector<PatternBase> BasesOfPattern(std::string_view text, const Bases& bases) {
  std::vector<PatternBase> found;
  for (const std::string& root : bases.project_roots) {
    if (!text.starts_with('/')) {
      found.push_back({.directory = root, .text = text});
    } else if (HasGlobCharacters(root) && IsBelow(text, root)) {
      return {{.directory = root, .text = text.substr(root.size())}};
    }
  }
  if (found.empty()) found.push_back({.directory = "/", .text = text});
  return found;
}

class Resolver {
 public:
  Resolver(const Policy::Files& files, Bases bases, WalkMemory* memory)
      : files_(files), bases_(std::move(bases)), memory_(memory) {}

  Result<Resolution> Run() {
    for (const Entry& entry : files_.entries) {
      TRY_VOID(std::visit([&](const auto& where) { return Add(entry, where); }, entry.where));
    }
    if (OpensEverything()) return Unrestricted();
    TRY(resolution_.denied_by_pattern, ExpandPatterns());
    TRY_VOID(FindRepositories());
    TRY_VOID(AddProtectedPaths(resolution_, searched_roots_, bases_.project_roots));
    return std::move(resolution_);
  }

 private:
  Result<> Add(const Entry& entry, const AbsolutePath& path) {
    TRY(const std::string normal, Normalise(path.text));
    AddRule(entry, normal);
    if (entry.access == Access::kWrite && normal != "/") AddSearchedRoot(normal);
    return {};
  }

  Result<> Add(const Entry& entry, const Place& place) {
    if (place.kind == PlaceKind::kMinimal && entry.access != Access::kDeny) resolution_.minimal = true;
    TRY(const std::vector<std::string> paths, PathsOf(place, bases_));
    for (const std::string& path : paths) AddRule(entry, path);
    // Repositories in temporary directories are scratch, and there may be many.
    const bool is_searched = place.kind == PlaceKind::kProjectRoots && entry.access == Access::kWrite;
    for (const std::string& path : paths) {
      if (is_searched) AddSearchedRoot(path);
    }
    return {};
  }

  void AddSearchedRoot(const std::string& path) {
    if (std::ranges::find(searched_roots_, path, &SearchedRoot::path) != searched_roots_.end()) return;
    searched_roots_.push_back({.path = path, .repositories = {}});
  }

  Result<> Add(const Entry& entry, const Pattern& pattern) {
    if (entry.access != Access::kDeny) return Refuse(fmt::format("pattern {}: can only be denied", pattern.text));
    for (const PatternBase& base : BasesOfPattern(pattern.text, bases_)) {
      TRY(std::vector<GlobTarget> targets, ParseGlob(base.directory, base.text));
      for (GlobTarget& target : targets) {
        if (target.glob) {
          globs_[target.path].push_back(*std::move(target.glob));
        } else {
          AddRule(entry, target.path);
        }
      }
    }
    return {};
  }

  void AddRule(const Entry& entry, const std::string& path) {
    if (entry.if_missing == IfMissing::kSkip && !MayExist(path)) return;
    const Rule rule{.path = path, .access = entry.access, .if_missing = entry.if_missing};
    if (std::ranges::find(resolution_.rules, rule) == resolution_.rules.end()) resolution_.rules.push_back(rule);
  }

  // Returns whether everything may be written: `/` may, and all other rules also lead to write access.
  bool OpensEverything() const {
    const auto is_writable = [&](const Rule& rule) { return AccessTo(resolution_, rule.path) == Access::kWrite; };
    return globs_.empty() && AccessTo(resolution_, "/") == Access::kWrite &&
           std::ranges::all_of(resolution_.rules, is_writable);
  }

  // Returns the files that patterns match. A scan that enters every directory of a searched root also finds the
  // repositories in it.
  Result<std::vector<std::string>> ExpandPatterns() {
    if (globs_.empty()) return std::vector<std::string>();
    if (files_.glob_scan_max_depth == 0) return Refuse("glob_scan_max_depth: must be at least 1");
    std::map<std::string, RepositoryVisitor> visitors;
    std::vector<GlobSearch> searches;
    searches.reserve(globs_.size());
    for (const auto& [root, globs] : globs_) {
      GlobSearch search{.root = root, .globs = globs, .max_depth = files_.glob_scan_max_depth};
      const bool is_searched = std::ranges::find(searched_roots_, root, &SearchedRoot::path) != searched_roots_.end();
      if (is_searched && SeesEverything(search)) {
        search.companion = &visitors.try_emplace(root, root, HasNoRule()).first->second;
      }
      searches.push_back(std::move(search));
    }
    TRY(std::vector<std::string> matches, ScanGlobs(searches, {.memory = memory_}));
    for (SearchedRoot& root : searched_roots_) {
      const auto visitor = visitors.find(root.path);
      if (visitor == visitors.end()) continue;
      root.repositories = visitor->second.Take();
      walked_.insert(root.path);
    }
    return matches;
  }

  // Searches the roots that no scan has walked. All of them share the bounds of one search.
  Result<> FindRepositories() {
    const size_t remaining = searched_roots_.size() - walked_.size();
    for (SearchedRoot& root : searched_roots_) {
      if (walked_.contains(root.path)) continue;
      NestedSearch search{.root = root.path};
      search.max_listed /= remaining;
      search.max_probed /= remaining;
      TRY(root.repositories, FindNestedGit(search, HasNoRule(), memory_));
    }
    return {};
  }

  // Returns a function that excludes directories with a rule of their own: they keep the access of that rule.
  EntersDirectory HasNoRule() const {
    std::unordered_set<std::string> named;
    for (const Rule& rule : resolution_.rules) named.insert(rule.path);
    return [named = std::move(named)](const std::string& path) { return !named.contains(path); };
  }

  const Policy::Files& files_;
  Bases bases_;
  WalkMemory* memory_;
  Resolution resolution_;
  std::vector<SearchedRoot> searched_roots_;
  std::unordered_set<std::string> walked_;          // the searched roots whose repositories a scan has found
  std::map<std::string, std::vector<Glob>> globs_;  // the key is the directory to search
};

}  // namespace

Result<Resolution> Resolve(const Policy& policy, const Surroundings& surroundings) {
  Resolution resolution = Unrestricted();
  if (policy.files) {
    TRY(Bases bases, BasesOf(surroundings));
    TRY(resolution, Resolver(*policy.files, std::move(bases), surroundings.memory).Run());
  }
  resolution.network = policy.network;
  return resolution;
}

}  // namespace holdfast::sandbox
