#include "sandbox/resolve/nested_repositories.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <climits>
#include <deque>
#include <iterator>
#include <memory>
#include <optional>

#include "base/owned_fd.h"
#include "base/paths.h"
#include "sandbox/resolve/directory_listing.h"
#include "sandbox/resolve/listing_recorder.h"
#include "sys/open.h"

namespace holdfast::sandbox {
namespace {

struct Directory {
  std::string path;  // relative to the root; empty for the root itself
  size_t depth;
};

// Such a directory has thousands of directories below it, and no repository that people work in.
constexpr std::string_view kPackages = "node_modules";

constexpr std::string_view kGit = ".git";

class NestedGitSearch {
 public:
  NestedGitSearch(const NestedSearch& search, const EntersDirectory& enter, ListingRecorder* recorder)
      : search_(search), enter_(enter), recorder_(recorder) {}

  Result<std::vector<std::string>> Run() {
    const int opened = sys::TryOpenAt(AT_FDCWD, search_.root, O_PATH | O_DIRECTORY, sys::Links::kFollow);
    if (opened < 0) return found_;  // nothing is there, or nothing that the command could write to
    const OwnedFd root(opened);
    if (recorder_ != nullptr) recorder_->Begin(root.get());
    for (; !pending_.empty() && found_.size() < search_.max_repositories; pending_.pop_front()) {
      const Directory& directory = pending_.front();
      if (MayList() && directory.depth < search_.max_depth) {
        TRY_VOID(List(root.get(), directory));
      } else if (directory.depth > 0 && probed_ < search_.max_probed) {
        Probe(root.get(), directory);
      }
    }
    has_changed_memory_ = recorder_ != nullptr && recorder_->Finish(root.get());
    return std::move(found_);
  }

  bool has_changed_memory() const { return has_changed_memory_; }

 private:
  bool MayList() const { return listed_ < search_.max_listed && entries_ < search_.max_entries; }

  Result<> List(int root, const Directory& directory) {
    ++listed_;
    const size_t max_entries = search_.max_entries - entries_;
    ListingPointer listing = recorder_ == nullptr ? nullptr : recorder_->Look(root, directory.path, max_entries);
    if (!listing) {
      auto read = Read(root, directory.path, max_entries);
      if (!read && read.error().kind == ErrorKind::kPermissionDenied) {
        if (directory.depth > 0) found_.push_back(Full(directory.path));
        return {};
      }
      TRY(listing, std::move(read));
    }
    Visit(directory, *listing);
    return {};
  }

  // Reads up to `max_entries` of the directory. One that was removed meanwhile counts as empty.
  Result<ListingPointer> Read(int root, const std::string& path, size_t max_entries) {
    auto read = std::make_shared<RememberedListing>();
    const std::string name = path.empty() ? "." : path;
    const int opened = sys::TryOpenAt(root, name, O_RDONLY | O_DIRECTORY, sys::Links::kNone);
    if (IsNoDirectory(-opened)) return read;
    if (opened < 0) return FailErrno("open", name, -opened);
    const OwnedFd directory(opened);
    std::optional<DirectoryState> state;
    if (recorder_ != nullptr) state = recorder_->LookBeforeReading(directory.get());
    TRY_VOID(ListOpenDirectory(directory.get(), name, [&](std::string_view entry, EntryKind kind) {
      Add(*read, entry, kind);
      read->is_whole = read->entries < max_entries;
      return read->is_whole ? Listing::kContinue : Listing::kStop;
    }));
    if (!state) return read;
    read->state = *state;
    read->directories.shrink_to_fit();
    recorder_->Remember(path, read);
    return read;
  }

  static void Add(RememberedListing& listing, std::string_view name, EntryKind kind) {
    ++listing.entries;
    if (name == kGit) {
      listing.has_git = true;
    } else if (kind == EntryKind::kDirectory && name != kPackages) {
      listing.directories.append(name).push_back('\0');
    }
  }

  void Visit(const Directory& directory, const RememberedListing& listing) {
    entries_ += listing.entries;
    if (listing.has_git && directory.depth > 0) Found(directory);
    for (size_t at = 0; at < listing.directories.size();) {
      const std::string_view name(listing.directories.c_str() + at);
      at += name.size() + 1;
      std::string path = directory.path;
      path.append(path.empty() ? "" : "/").append(name);
      if (enter_(Full(path))) pending_.push_back({.path = std::move(path), .depth = directory.depth + 1});
    }
  }

  void Probe(int root, const Directory& directory) {
    ++probed_;
    const GitProbe probe =
        recorder_ == nullptr ? ProbeForGit(root, directory.path) : recorder_->Probe(root, directory.path);
    if (probe == GitProbe::kRepository) Found(directory);
    if (probe == GitProbe::kClosed) found_.push_back(Full(directory.path));
  }

  void Found(const Directory& directory) { found_.push_back(Full(directory.path) + "/.git"); }

  // Returns the whole path of a directory below the root. The reference is valid until the next call.
  const std::string& Full(const std::string& path) {
    full_.assign(search_.root).append("/").append(path);
    return full_;
  }

  const NestedSearch& search_;
  const EntersDirectory& enter_;
  ListingRecorder* recorder_;  // may be null
  std::deque<Directory> pending_ = {{.path = "", .depth = 0}};
  std::vector<std::string> found_;
  std::string full_;  // reused for each path
  size_t listed_ = 0, entries_ = 0, probed_ = 0;
  bool has_changed_memory_ = false;
};

}  // namespace

Result<std::vector<std::string>> FindNestedGit(const NestedSearch& search, const EntersDirectory& enter,
                                               WalkMemory* memory) {
  if (memory == nullptr) return NestedGitSearch(search, enter, nullptr).Run();
  SearchKey key{.root = search.root, .globs = {}, .max_depth = {}};
  TreeMemory tree = memory->Recall(key);
  ListingRecorder recorder(tree);
  NestedGitSearch nested(search, enter, &recorder);
  TRY(std::vector<std::string> found, nested.Run());
  if (nested.has_changed_memory()) memory->Remember(std::move(key), std::move(tree));
  return found;
}

void RepositoryVisitor::SetPath(std::string_view below) {
  path_.resize(root_size_);
  path_.append("/").append(below);
}

bool RepositoryVisitor::Enter(const WalkedDirectory& directory) {
  if (directory.depth == 0) return true;
  const std::string_view name = NameOf(directory.path);
  if (name == kGit || name == kPackages) return false;
  SetPath(directory.path);
  return enter_(path_);
}

bool RepositoryVisitor::Seeks(const WalkedDirectory& directory, std::string_view name, EntryKind) const {
  return name == kGit && directory.depth > 0;
}

Result<> RepositoryVisitor::Visit(const WalkedDirectory& directory, std::string_view name, EntryKind) {
  SetPath(directory.path);
  path_.append("/").append(name);
  if (path_.size() >= PATH_MAX) return {};  // nothing can be mounted there
  found_.emplace(directory.depth + 1, path_);
  if (found_.size() > kMaxRepositories) found_.erase(std::prev(found_.end()));
  return {};
}

std::vector<std::string> RepositoryVisitor::Take() {
  std::vector<std::string> nearest;
  size_t names = 0;
  for (const auto& [depth, path] : found_) {
    names += depth;
    if (names > kMaxNames) break;
    nearest.push_back(path);
  }
  return nearest;
}

}  // namespace holdfast::sandbox
