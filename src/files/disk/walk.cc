#include "files/disk/walk.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <deque>
#include <optional>
#include <set>
#include <utility>

#include "base/owned_fd.h"
#include "files/disk/directory.h"
#include "sys/file_identity.h"
#include "sys/open.h"
#include "sys/placeholder.h"

namespace holdfast::files {
namespace {

struct Name {
  std::string text;
  unsigned char type;  // DT_*
};

bool ComesBefore(const Name& a, const Name& b) { return a.text < b.text; }

std::string Join(const std::string& directory, const std::string& name) {
  return directory.ends_with('/') ? directory + name : directory + "/" + name;
}

class TreeWalk {
 public:
  // `directory` is an O_PATH descriptor of the root.
  TreeWalk(OwnedFd directory, const std::string& root, const WalkOptions& options)
      : directory_(std::move(directory)), root_(root), options_(options) {}

  WalkResult Run();

 private:
  // A directory that has yet to be listed.
  struct Pending {
    size_t entry;  // the index of the entry in the result that has the path
    size_t depth;
  };
  struct Names {
    std::vector<Name> sorted;
    bool are_all = true;
  };

  void Visit(const std::string& path, size_t depth);
  bool MayVisit(int directory);
  Result<Names> List(DirectoryReader& reader) const;
  void Add(int directory, const Name& name, std::string path, size_t depth);
  Result<unsigned char> TypeOf(int directory, const Name& name, const std::string& path) const;
  void AddError(const std::string& path, const Error& error);
  bool HasRoomFor(size_t bytes);

  const OwnedFd directory_;
  const std::string& root_;
  const WalkOptions& options_;
  WalkResult result_;
  std::deque<Pending> pending_;
  std::set<sys::FileIdentity> visited_;
  size_t directories_ = 0, names_ = 0, bytes_ = 0;
};

WalkResult TreeWalk::Run() {
  Visit(root_, 0);
  while (!pending_.empty() && !result_.truncated) {
    const auto [entry, depth] = pending_.front();
    pending_.pop_front();
    Visit(std::string(result_.entries[entry].path), depth);
  }
  return std::move(result_);
}

void TreeWalk::Visit(const std::string& path, size_t depth) {
  // The path is opened from the root on. Unless links are to be followed, none is allowed in it, so that a directory
  // which is replaced by a link does not lead out of the tree.
  const std::string way = path.size() > root_.size() ? path.substr(Join(root_, "").size()) : ".";
  const auto links = options_.follow_directory_links ? sys::Links::kFollow : sys::Links::kNone;
  const int opened = sys::TryOpenAt(directory_.get(), way, O_RDONLY | O_DIRECTORY, links);
  if (opened < 0) return AddError(path, ErrnoError("open", path, -opened));
  DirectoryReader reader(OwnedFd(opened), path);
  if (!MayVisit(reader.fd())) return;
  const auto names = List(reader);
  if (!names) return AddError(path, names.error());
  for (const Name& name : names->sorted) {
    Add(reader.fd(), name, Join(path, name.text), depth);
    if (result_.truncated) return;
  }
  names_ += names->sorted.size();
  result_.truncated = !names->are_all;
}

bool TreeWalk::MayVisit(int directory) {
  if (options_.follow_directory_links) {
    // A directory can be reached twice only through links.
    struct stat status;
    if (::fstat(directory, &status) < 0 || !visited_.insert(sys::FileIdentity::Of(status)).second) return false;
  }
  result_.truncated = directories_++ == options_.max_directories;
  return !result_.truncated;
}

// Returns the names of a directory in order, but no more than may still be looked at. The names that come first are
// kept in a heap with the last of them on top.
Result<TreeWalk::Names> TreeWalk::List(DirectoryReader& reader) const {
  Names names;
  for (;;) {
    TRY(const std::optional<RawEntry> raw, reader.Next());
    if (!raw) break;
    names.sorted.push_back({std::string(raw->name), raw->type});
    std::ranges::push_heap(names.sorted, ComesBefore);
    if (names.sorted.size() <= options_.max_entries - names_) continue;
    names.are_all = false;
    std::ranges::pop_heap(names.sorted, ComesBefore);
    names.sorted.pop_back();
  }
  std::ranges::sort_heap(names.sorted, ComesBefore);
  return names;
}

void TreeWalk::Add(int directory, const Name& name, std::string path, size_t depth) {
  const auto type = TypeOf(directory, name, path);
  if (!type) return AddError(path, type.error());
  const bool is_directory = *type == DT_DIR;
  if ((!is_directory && *type != DT_REG) || sys::IsListedPlaceholder(directory, name.text)) return;
  if (!HasRoomFor(path.size())) return;
  const bool is_pruned = options_.prune_hidden_directories && name.text.starts_with('.');
  if (is_directory && !is_pruned && depth < options_.max_depth) {
    pending_.push_back({result_.entries.size(), depth + 1});
  }
  result_.entries.push_back({std::move(path), is_directory});
}

// Returns the type of an entry. The type of a link to a directory is DT_DIR if such links are followed. The type of an
// entry that is gone, of a placeholder, and of a link whose target is missing is DT_UNKNOWN.
Result<unsigned char> TreeWalk::TypeOf(int directory, const Name& name, const std::string& path) const {
  const auto failed = [&path](int errno_value) -> Result<unsigned char> {
    if (errno_value == ENOENT || errno_value == ELOOP || errno_value == ENOTDIR) return DT_UNKNOWN;
    return FailErrno("stat", path, errno_value);
  };
  struct stat status;
  unsigned char type = name.type;
  if (type == DT_UNKNOWN) {
    const int flags = AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT;
    if (::fstatat(directory, name.text.c_str(), &status, flags) < 0) return failed(errno);
    type = IFTODT(status.st_mode);
  }
  if (type != DT_LNK || !options_.follow_directory_links) return type;
  if (::fstatat(directory, name.text.c_str(), &status, AT_NO_AUTOMOUNT) < 0) return failed(errno);
  if (sys::IsPlaceholderOfMode(status.st_mode, directory, name.text, sys::Links::kFollow)) return DT_UNKNOWN;
  return S_ISDIR(status.st_mode) ? DT_DIR : DT_LNK;
}

void TreeWalk::AddError(const std::string& path, const Error& error) {
  if (HasRoomFor(path.size() + error.message.size())) result_.errors.push_back({path, error.message});
}

bool TreeWalk::HasRoomFor(size_t bytes) {
  bytes_ += bytes;
  result_.truncated = bytes_ > options_.max_path_bytes;
  return !result_.truncated;
}

}  // namespace

Result<WalkResult> Walk(const std::string& root, const WalkOptions& options) {
  struct stat status;
  if (::fstatat(AT_FDCWD, root.c_str(), &status, 0) < 0) return FailErrno("stat", root);
  if (sys::IsPlaceholderOfMode(status.st_mode, AT_FDCWD, root, sys::Links::kFollow)) {
    return FailErrno("stat", root, ENOENT);
  }
  const auto links = options.follow_directory_links ? sys::Links::kFollow : sys::Links::kFollowToLast;
  const int opened = sys::TryOpenAt(AT_FDCWD, root, O_PATH | O_DIRECTORY, links);
  // A file, or a link that is not followed, is a tree with nothing below the root.
  if (opened == -ENOTDIR) return WalkResult{};
  if (opened < 0) return FailErrno("open", root, -opened);
  return TreeWalk(OwnedFd(opened), root, options).Run();
}

}  // namespace holdfast::files
