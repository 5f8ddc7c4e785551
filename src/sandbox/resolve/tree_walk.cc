#include "sandbox/resolve/tree_walk.h"

#include <fcntl.h>

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/owned_fd.h"
#include "sys/open.h"

namespace holdfast::sandbox {
namespace {

using Clock = std::chrono::steady_clock;

// The number of levels whose directories may stay open. A deeper directory is opened by its path from the last of
// these, so that a deep tree does not use up all descriptors.
constexpr size_t kMaxOpen = 64;

// A directory that is remembered is looked at by its path from an open directory above it, because to open it would
// take longer than the look. One level of so many is opened nevertheless: the path to the next one fits in PATH_MAX.
constexpr size_t kOpenEvery = 16;
static_assert(kMaxOpen % kOpenEvery == 0);

constexpr size_t kMaxVisitors = 32;

// A visitor, and the number of directories from the top to the current one that it has entered.
struct Guest {
  TreeVisitor* visitor;
  size_t depth = 0;
};

// A directory whose entries have been visited, and the directories in it that the walk still has to enter.
struct Level {
  OwnedFd directory;           // closed for a directory that was only looked at, and for levels from kMaxOpen on
  std::string listed, sought;  // the entries if the directory was read; as in RememberedDirectory
  const std::string* directories = nullptr;  // `listed`, or what is remembered
  size_t next = 0;                           // the offset in `directories` of the next one to enter
  size_t path_size = 0;
};

class Walk {
 public:
  Walk(int top, std::span<TreeVisitor* const> visitors, const WalkOptions& options)
      : top_(top), deadline_(options.deadline) {
    CHECK(visitors.size() <= kMaxVisitors);
    for (TreeVisitor* visitor : visitors) guests_.push_back({.visitor = visitor});
    if (options.memory != nullptr) recorder_.emplace(*options.memory);
  }

  Result<> Run() {
    TRY_VOID(EnterNext());
    while (depth_ > 0) {
      Level& level = levels_[depth_ - 1];
      path_.resize(level.path_size);
      if (level.next == level.directories->size()) {
        Ascend();
        continue;
      }
      const std::string_view name(level.directories->c_str() + level.next);
      level.next += name.size() + 1;
      path_.append(path_.empty() ? "" : "/").append(name);
      TRY_VOID(EnterNext());
    }
    if (recorder_) recorder_->Finish();
    return {};
  }

 private:
  // Returns the directory at `path_`. It is the deepest level, or becomes the next one.
  WalkedDirectory here() const { return {.path = path_, .depth = depth_}; }

  // Goes into the directory at `path_` if a visitor that has entered the parent directory enters this one too.
  Result<> EnterNext() {
    uint32_t entered_by = 0;
    for (size_t i = 0; i < guests_.size(); ++i) {
      Guest& guest = guests_[i];
      if (guest.depth != depth_ || !guest.visitor->Enter(here())) continue;
      ++guest.depth;
      entered_by |= uint32_t{1} << i;
    }
    if (entered_by != 0) return Descend(entered_by);
    if (recorder_) recorder_->Skip();
    return {};
  }

  // Visits the entries of the directory at `path_`.
  Result<> Descend(uint32_t entered_by) {
    if (Clock::now() > deadline_) return Fail(ErrorKind::kInvalidRequest, "did not finish in time");
    if (levels_.size() == depth_) levels_.emplace_back();
    Level& level = levels_[depth_];
    level.listed.clear();
    level.sought.clear();
    level.directories = &level.listed;
    level.next = 0;
    level.path_size = path_.size();
    TRY_VOID(recorder_ ? LookOrRead(level, entered_by) : Read(level));
    if (depth_ >= kMaxOpen) level.directory.Reset();
    ++depth_;
    return {};
  }

  Result<> Read(Level& level) {
    TRY(level.directory, Open());
    return level.directory.is_open() ? List(level) : Result<>();
  }

  Result<> LookOrRead(Level& level, uint32_t entered_by) {
    if (IsUnchanged(entered_by)) return VisitRemembered(level);
    TRY(level.directory, Open());
    RememberedDirectory read;
    if (level.directory.is_open()) {
      read = recorder_->LookBeforeReading(level.directory.get(), entered_by);
      if (recorder_->Knows(read.state, entered_by)) return VisitRemembered(level);
      TRY_VOID(List(level));
    }
    read.directories = level.listed;
    read.entries = level.sought;
    level.directories = &recorder_->Replace(std::move(read)).directories;
    return {};
  }

  // Looks at the directory at `path_` without opening it. Returns false for one that is to be opened in any case.
  bool IsUnchanged(uint32_t entered_by) const {
    const bool is_opened_anyway = depth_ < kMaxOpen && depth_ % kOpenEvery == kOpenEvery - 1;
    if (is_opened_anyway) return false;
    const auto [from, path] = NearestOpen();
    const std::optional<DirectorySight> sight = LookAtDirectory(from, path);
    return sight && recorder_->Knows(sight->state, entered_by);
  }

  struct Way {
    int from;
    const char* path;  // valid until `path_` changes
  };

  // Returns the way to the directory at `path_` from the nearest directory above it that is open.
  Way NearestOpen() const {
    if (path_.empty()) return {.from = top_, .path = "."};
    size_t depth = depth_;
    while (depth > 0 && !levels_[depth - 1].directory.is_open()) --depth;
    if (depth <= 1) return {.from = top_, .path = path_.c_str()};
    const Level& nearest = levels_[depth - 1];
    return {.from = nearest.directory.get(), .path = path_.c_str() + nearest.path_size + 1};
  }

  // Returns a closed descriptor when the directory does not exist any more.
  Result<OwnedFd> Open() const {
    const auto [from, path] = NearestOpen();
    const int opened = sys::TryOpenAt(from, path, O_RDONLY | O_DIRECTORY, sys::Links::kNone);
    if (IsNoDirectory(-opened)) return OwnedFd();
    if (opened < 0) return FailErrno("open", PathForErrors(), -opened);
    return OwnedFd(opened);
  }

  Result<> List(Level& level) {
    Result<> visited;
    const auto visit = [&](std::string_view name, EntryKind kind) {
      visited = Visit(level, name, kind);
      if (kind == EntryKind::kDirectory) level.listed.append(name).push_back('\0');
      return visited ? Listing::kContinue : Listing::kStop;
    };
    TRY_VOID(ListOpenDirectory(level.directory.get(), PathForErrors(), visit));
    return visited;
  }

  Result<> Visit(Level& level, std::string_view name, EntryKind kind) {
    bool is_sought = false;
    for (const Guest& guest : guests_) {
      if (guest.depth <= depth_ || !guest.visitor->Seeks(here(), name, kind)) continue;
      is_sought = true;
      TRY_VOID(guest.visitor->Visit(here(), name, kind));
    }
    if (!is_sought || !recorder_) return {};
    level.sought.push_back(static_cast<char>(kind));
    level.sought.append(name).push_back('\0');
    return {};
  }

  Result<> VisitRemembered(Level& level) {
    const RememberedDirectory& known = recorder_->Keep();
    level.directories = &known.directories;
    for (size_t at = 0; at < known.entries.size();) {
      const auto kind = static_cast<EntryKind>(known.entries[at]);
      const std::string_view name(known.entries.c_str() + at + 1);
      at += name.size() + 2;
      TRY_VOID(Visit(level, name, kind));
    }
    return {};
  }

  void Ascend() {
    --depth_;
    levels_[depth_].directory.Reset();
    if (recorder_) recorder_->Leave();
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
  std::optional<TreeRecorder> recorder_;
  std::deque<Level> levels_;  // levels from `depth_` on are unused; they are kept to reuse their memory
  size_t depth_ = 0;          // the number of levels in use
  std::string path_;
};

}  // namespace

Result<> WalkTree(int top, std::span<TreeVisitor* const> visitors, const WalkOptions& options) {
  return Walk(top, visitors, options).Run();
}

}  // namespace holdfast::sandbox
