#include "sandbox/resolve/glob_scan.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <set>
#include <span>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "base/owned_fd.h"
#include "base/paths.h"
#include "sandbox/resolve/real_path.h"
#include "sys/open.h"

namespace holdfast::sandbox {
namespace {

using Clock = std::chrono::steady_clock;

std::string Join(std::string_view directory, std::string_view name) {
  return directory.empty() ? std::string(name) : fmt::format("{}/{}", directory, name);
}

bool IsLinkToDirectory(const std::string& path) {
  struct stat status{};
  return ::stat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode);
}

// The paths that the patterns of all searches match.
class Matches {
 public:
  explicit Matches(size_t limit) : limit_(limit) {}

  Result<> Add(const std::string& path, EntryKind kind) {
    if (paths_.insert(path).second && ++count_ > limit_) {
      return Fail(ErrorKind::kInvalidRequest, fmt::format("the patterns match more than {} files", limit_));
    }
    if (kind != EntryKind::kLink) return {};
    if (const std::optional<std::string> target = RealPath(path)) paths_.insert(*target);
    return {};
  }

  // Adds another path of a match. It does not count towards the limit.
  void AddAlias(std::string path) { paths_.insert(std::move(path)); }

  std::vector<std::string> Take() { return {paths_.begin(), paths_.end()}; }

 private:
  std::set<std::string> paths_;
  size_t limit_, count_ = 0;
};

// Matches the patterns of one search while the walk goes down the tree.
class GlobVisitor : public TreeVisitor {
 public:
  GlobVisitor(const GlobSearch& search, Matches& matches)
      : search_(search), root_without_links_(RealPath(search.root).value_or(search.root)), matches_(matches) {}

  // Enters only directories in which, or below which, a pattern can match something.
  bool Enter(const WalkedDirectory& directory) override {
    if (search_.max_depth && directory.depth >= *search_.max_depth) return false;
    if (directory.depth == way_.size()) way_.emplace_back(search_.globs.size());
    Positions& entered = way_[directory.depth];
    for (size_t i = 0; i < search_.globs.size(); ++i) {
      const Glob& glob = search_.globs[i];
      if (directory.depth == 0) {
        entered[i] = glob.Start();
      } else {
        glob.Enter(way_[directory.depth - 1][i], NameOf(directory.path), entered[i]);
      }
    }
    return !std::ranges::all_of(entered, [](const Glob::Position& position) { return position.empty(); });
  }

  bool Seeks(const WalkedDirectory& directory, std::string_view name, EntryKind kind) const override {
    if (kind == EntryKind::kDirectory) return false;
    const Positions& here = way_[directory.depth];
    for (size_t i = 0; i < here.size(); ++i) {
      if (search_.globs[i].MatchesAt(here[i], name)) return true;
    }
    return false;
  }

  // A link is followed on each walk: where it leads can change without its directory.
  Result<> Visit(const WalkedDirectory& directory, std::string_view name, EntryKind kind) override {
    const std::string path = Join(directory.path, name), full = Join(search_.root, path);
    if (kind == EntryKind::kLink && IsLinkToDirectory(full)) return {};
    TRY_VOID(matches_.Add(full, kind));
    if (search_.root != root_without_links_) matches_.AddAlias(Join(root_without_links_, path));
    return {};
  }

  void Leave() override {}

 private:
  using Positions = std::vector<Glob::Position>;  // one for each pattern

  const GlobSearch& search_;
  std::string root_without_links_;
  Matches& matches_;
  std::vector<Positions> way_;  // by depth: of the directories from the root to the current one, and unused ones
};

Result<> Walk(int root, std::span<TreeVisitor* const> visitors, const GlobSearch& search, WalkOptions options,
              WalkMemory* memory) {
  if (memory == nullptr) return WalkTree(root, visitors, options);
  SearchKey key{.root = search.root, .globs = search.globs, .max_depth = search.max_depth};
  TreeMemory tree = memory->Recall(key);
  options.memory = &tree;
  TRY_VOID(WalkTree(root, visitors, options));
  memory->Remember(std::move(key), std::move(tree));
  return {};
}

Result<> Run(const GlobSearch& search, Matches& matches, Clock::time_point deadline, WalkMemory* memory) {
  const int opened = sys::TryOpenAt(AT_FDCWD, search.root, O_PATH | O_DIRECTORY, sys::Links::kFollow);
  if (opened == -ENOENT || opened == -ENOTDIR) return {};
  if (opened < 0) return FailErrno("open", search.root, -opened);
  const OwnedFd root(opened);
  GlobVisitor globs(search, matches);
  std::vector<TreeVisitor*> visitors = {&globs};
  if (search.companion != nullptr) visitors.push_back(search.companion);
  return Walk(root.get(), visitors, search, {.deadline = deadline}, memory);
}

}  // namespace

bool SeesEverything(const GlobSearch& search) {
  const auto searches_everywhere = [](const Glob& glob) { return glob.searches_everywhere(); };
  return !search.max_depth && std::ranges::any_of(search.globs, searches_everywhere);
}

Result<std::vector<std::string>> ScanGlobs(const std::vector<GlobSearch>& searches, const GlobScanOptions& options) {
  Matches matches(options.max_matches);
  const Clock::time_point deadline = Clock::now() + options.time_limit;
  for (const GlobSearch& search : searches) {
    const Result<> done = Run(search, matches, deadline, options.memory);
    if (!done) {
      return Fail(ErrorKind::kInvalidRequest, fmt::format("scan {}: {}", search.root, done.error().message));
    }
  }
  return matches.Take();
}

}  // namespace holdfast::sandbox
