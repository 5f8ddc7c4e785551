#include "sandbox/resolve/tree_recorder.h"

#include <string_view>
#include <unordered_map>
#include <utility>

namespace holdfast::sandbox {
namespace {

using Children = std::unordered_map<std::string_view, const RememberedPointer*>;

// Calls `visit` with each of the names, which have a nul byte behind them.
void ForEachName(std::string_view names, const auto& visit) {
  for (size_t end; !names.empty(); names.remove_prefix(end + 1)) {
    end = names.find('\0');
    visit(names.substr(0, end));
  }
}

Children ChildrenByName(const RememberedDirectory* directory) {
  Children children;
  if (directory == nullptr) return children;
  size_t index = 0;
  ForEachName(directory->directories, [&](std::string_view name) {
    const RememberedPointer& child = directory->children[index++];
    if (child) children.emplace(name, &child);
  });
  return children;
}

// Adds what was remembered of the directories in `read`. It is of use even if the directory itself has changed.
void AddChildren(RememberedDirectory& read, const RememberedDirectory* before) {
  const Children known = ChildrenByName(before);
  read.children.clear();
  ForEachName(read.directories, [&](std::string_view name) {
    const auto child = known.find(name);
    read.children.push_back(child == known.end() ? nullptr : *child->second);
  });
  read.children.shrink_to_fit();
}

}  // namespace

timespec WallClockTime() {
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME, &now);
  return now;
}

const RememberedPointer& TreeRecorder::Next() const {
  return levels_.empty() ? top_ : levels_.back().directory().children[levels_.back().next_child];
}

// Puts `next` in the place of the next directory, and goes on to the one after it.
void TreeRecorder::SetNext(RememberedPointer next) {
  if (levels_.empty()) {
    top_ = std::move(next);
    return;
  }
  Level& level = levels_.back();
  if (Next() != next) {
    if (!level.made) level.made = std::make_shared<RememberedDirectory>(*level.kept);
    level.made->children[level.next_child] = std::move(next);
  }
  ++level.next_child;
}

bool TreeRecorder::Knows(const DirectoryState& state, uint32_t visitors) const {
  const RememberedDirectory* known = Next().get();
  return known != nullptr && known->is_trusted && state == known->state && (visitors & ~known->visitors) == 0;
}

// Room is given from the top down, because what is remembered of a directory can only be found through its parent.
void TreeRecorder::Push(Level level) {
  const size_t bytes = level.directory().bytes();
  level.has_room = (levels_.empty() || levels_.back().has_room) && bytes_ + bytes <= memory_.max_bytes;
  if (level.has_room) bytes_ += bytes;
  levels_.push_back(std::move(level));
}

const RememberedDirectory& TreeRecorder::Keep() {
  Push({.kept = Next(), .made = nullptr, .has_room = false});
  return *levels_.back().kept;
}

RememberedDirectory TreeRecorder::LookBeforeReading(int directory, uint32_t visitors) const {
  const RememberedDirectory* parent = levels_.empty() ? nullptr : &levels_.back().directory();
  RememberedDirectory seen = sandbox::LookBeforeReading(directory, parent, memory_.now());
  seen.visitors = visitors;
  return seen;
}

const RememberedDirectory& TreeRecorder::Replace(RememberedDirectory read) {
  AddChildren(read, Next().get());
  Push({.kept = nullptr, .made = std::make_shared<RememberedDirectory>(std::move(read)), .has_room = false});
  return *levels_.back().made;
}

void TreeRecorder::Leave() {
  Level level = std::move(levels_.back());
  levels_.pop_back();
  if (!level.has_room) return SetNext(nullptr);
  SetNext(level.made ? RememberedPointer(std::move(level.made)) : std::move(level.kept));
}

void TreeRecorder::Finish() {
  memory_.top = std::move(top_);
  memory_.bytes = bytes_;
}

}  // namespace holdfast::sandbox
