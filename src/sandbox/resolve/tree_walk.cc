#include "sandbox/resolve/tree_walk.h"

#include <fcntl.h>

#include <string>
#include <utility>
#include <vector>

#include "base/owned_fd.h"
#include "sys/open.h"

namespace holdfast::sandbox {
namespace {

using Clock = std::chrono::steady_clock;

// The number of levels whose directories stay open. A deeper directory is opened by its path from the last of these, so
// that a deep tree does not use up all descriptors.
constexpr size_t kMaxOpen = 64;

// A visitor, and the number of directories from the top to the current one that it has entered.
struct Guest {
  TreeVisitor* visitor;
  size_t depth = 0;
};

// A directory that has been listed, and the directories in it that the walk still has to enter.
struct Level {
  OwnedFd directory;        // closed for levels from kMaxOpen on
  std::string directories;  // the names of the directories in it, with a nul byte behind each
  size_t next = 0;          // the offset in `directories` of the next one to enter
  size_t path_size = 0;
};

class Walk {
 public:
  Walk(int top, std::span<TreeVisitor* const> visitors, Clock::time_point deadline) : top_(top), deadline_(deadline) {
    for (TreeVisitor* visitor : visitors) guests_.push_back({.visitor = visitor});
  }

  Result<> Run() {
    if (EnterByAny()) TRY_VOID(Descend("."));
    while (depth_ > 0) {
      Level& level = levels_[depth_ - 1];
      path_.resize(level.path_size);
      if (level.next == level.directories.size()) {
        Ascend();
        continue;
      }
      const std::string name(level.directories.c_str() + level.next);
      level.next += name.size() + 1;
      path_.append(path_.empty() ? "" : "/").append(name);
      if (EnterByAny()) TRY_VOID(Descend(name));
    }
    return {};
  }

 private:
  // Returns the directory at `path_`. It is the deepest level, or becomes the next one.
  WalkedDirectory here() const { return {.path = path_, .depth = depth_}; }

  // Asks each visitor that has entered the parent directory. Returns whether one of them enters this directory.
  bool EnterByAny() {
    bool is_entered = false;
    for (Guest& guest : guests_) {
      if (guest.depth != depth_ || !guest.visitor->Enter(here())) continue;
      ++guest.depth;
      is_entered = true;
    }
    return is_entered;
  }

  // Lists the directory at `path_`, whose name in its parent directory is `name`.
  Result<> Descend(const std::string& name) {
    if (Clock::now() > deadline_) return Fail(ErrorKind::kInvalidRequest, "did not finish in time");
    if (levels_.size() == depth_) levels_.emplace_back();
    Level& level = levels_[depth_];
    level.directories.clear();
    level.next = 0;
    level.path_size = path_.size();
    TRY(level.directory, Open(name));
    if (level.directory.is_open()) TRY_VOID(List(level));
    if (depth_ >= kMaxOpen) level.directory.Reset();
    ++depth_;
    return {};
  }

  // Returns a closed descriptor when the directory does not exist any more.
  Result<OwnedFd> Open(const std::string& name) const {
    int from = top_;
    std::string path = name;
    if (depth_ > kMaxOpen) {
      const Level& nearest = levels_[kMaxOpen - 1];
      from = nearest.directory.get();
      path = path_.substr(nearest.path_size + 1);
    } else if (depth_ > 0) {
      from = levels_[depth_ - 1].directory.get();
    }
    const int opened = sys::TryOpenAt(from, path, O_RDONLY | O_DIRECTORY, sys::Links::kNone);
    if (IsNoDirectory(-opened)) return OwnedFd();
    if (opened < 0) return FailErrno("open", PathForErrors(), -opened);
    return OwnedFd(opened);
  }

  Result<> List(Level& level) {
    const WalkedDirectory directory = here();
    Result<> visited;
    const auto visit = [&](std::string_view name, EntryKind kind) {
      for (const Guest& guest : guests_) {
        if (visited && guest.depth > depth_) visited = guest.visitor->Visit(directory, name, kind);
      }
      if (kind == EntryKind::kDirectory) level.directories.append(name).push_back('\0');
      return visited ? Listing::kContinue : Listing::kStop;
    };
    TRY_VOID(ListOpenDirectory(level.directory.get(), PathForErrors(), visit));
    return visited;
  }

  void Ascend() {
    --depth_;
    levels_[depth_].directory.Reset();
    for (Guest& guest : guests_) {
      if (guest.depth <= depth_) continue;
      --guest.depth;
      guest.visitor->Leave();
    }
  }

  std::string PathForErrors() const { return path_.empty() ? "." : path_; }

  int top_;
  Clock::time_point deadline_;
  std::vector<Guest> guests_;
  std::vector<Level> levels_;  // levels from `depth_` on are unused; they are kept to reuse their memory
  size_t depth_ = 0;           // the number of levels in use
  std::string path_;
};

}  // namespace

Result<> WalkTree(int top, std::span<TreeVisitor* const> visitors, Clock::time_point deadline) {
  return Walk(top, visitors, deadline).Run();
}

}  // namespace holdfast::sandbox
