#include "sandbox/glob_scan.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <functional>
#include <set>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "base/owned_fd.h"
#include "sandbox/directory_listing.h"
#include "sandbox/real_path.h"
#include "sys/open.h"

namespace holdfast::sandbox {
namespace {

using Clock = std::chrono::steady_clock;

std::string Join(std::string_view directory, std::string_view name) {
  return directory.empty() ? std::string(name) : fmt::format("{}/{}", directory, name);
}

// A pattern of a fixed depth needs no look below it.
std::optional<size_t> DepthOf(const GlobSearch& search) {
  size_t deepest = 0;
  for (const Glob& glob : search.globs) {
    const std::optional<size_t> depth = glob.depth();
    if (!depth) return search.max_depth;
    deepest = std::max(deepest, *depth);
  }
  return search.max_depth ? std::min(deepest, *search.max_depth) : deepest;
}

bool MatchesAny(const GlobSearch& search, std::string_view path) {
  return std::ranges::any_of(search.globs, [path](const Glob& glob) { return glob.Matches(path); });
}

// Gives all that is no directory, with its path below `root`.
using VisitPath = std::function<Result<>(const std::string& path, EntryKind kind)>;

struct Directory {
  std::string path;
  size_t depth;
};

Result<> WalkTree(int root, std::optional<size_t> max_depth, Clock::time_point deadline, const VisitPath& visit) {
  std::vector<Directory> pending = {{.path = "", .depth = 1}};
  while (!pending.empty()) {
    if (Clock::now() > deadline) return Fail(ErrorKind::kInvalidRequest, "not done in time");
    const Directory directory = std::move(pending.back());
    pending.pop_back();
    Result<> visited;
    TRY_VOID(ListDirectory(root, directory.path, [&](std::string_view name, EntryKind kind) {
      std::string path = Join(directory.path, name);
      if (kind != EntryKind::kDirectory) {
        visited = visit(path, kind);
      } else if (!max_depth || directory.depth < *max_depth) {
        pending.push_back({.path = std::move(path), .depth = directory.depth + 1});
      }
      return visited ? Listing::kContinue : Listing::kStop;
    }));
    TRY_VOID(visited);
  }
  return {};
}

class Scan {
 public:
  Scan(const GlobScanOptions& options, Clock::time_point deadline) : options_(options), deadline_(deadline) {}

  Result<> Run(const GlobSearch& search) {
    const int opened = sys::TryOpenAt(AT_FDCWD, search.root, O_PATH | O_DIRECTORY, sys::Links::kFollow);
    if (opened == -ENOENT || opened == -ENOTDIR) return {};
    if (opened < 0) return std::unexpected(ErrnoError("open", search.root, -opened));
    const OwnedFd root(opened);
    root_path_ = search.root;
    root_without_links_ = RealPath(search.root).value_or(search.root);
    return RunWalk(search, root.get());
  }

  std::vector<std::string> TakePaths() { return {paths_.begin(), paths_.end()}; }

 private:
  Result<> RunWalk(const GlobSearch& search, int root) {
    return WalkTree(root, DepthOf(search), deadline_, [&](const std::string& path, EntryKind kind) -> Result<> {
      return MatchesAny(search, path) ? Add(path, kind) : Result<>();
    });
  }

  Result<> Add(std::string_view path, EntryKind kind) {
    const std::string full = Join(root_path_, path);
    if (kind == EntryKind::kLink && IsLinkToDirectory(full)) return {};
    if (paths_.insert(full).second && ++matches_ > options_.max_matches) {
      return Fail(ErrorKind::kInvalidRequest, fmt::format("more than {} matches", options_.max_matches));
    }
    if (root_path_ != root_without_links_) paths_.insert(Join(root_without_links_, path));
    if (kind != EntryKind::kLink) return {};
    if (const std::optional<std::string> target = RealPath(full)) paths_.insert(*target);
    return {};
  }

  static bool IsLinkToDirectory(const std::string& path) {
    struct stat status{};
    return ::stat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode);
  }

  const GlobScanOptions& options_;
  Clock::time_point deadline_;
  std::string root_path_, root_without_links_;
  std::set<std::string> paths_;
  size_t matches_ = 0;
};

}  // namespace

Result<std::vector<std::string>> ScanGlobs(const std::vector<GlobSearch>& searches, const GlobScanOptions& options) {
  Scan scan(options, Clock::now() + options.time_limit);
  for (const GlobSearch& search : searches) {
    Result<> done = scan.Run(search);
    if (!done) {
      return Fail(ErrorKind::kInvalidRequest, fmt::format("scan {}: {}", search.root, done.error().message));
    }
  }
  return scan.TakePaths();
}

}  // namespace holdfast::sandbox
