#include "apply_patch/make_plan.h"

#include <fcntl.h>

#include <cerrno>
#include <utility>

#include <fmt/format.h>

#include "apply_patch/disk.h"
#include "apply_patch/match.h"
#include "apply_patch/planned_tree.h"
#include "base/utf8.h"

namespace holdfast::apply_patch {
namespace {

// Returns the error for a path that is not a regular file, because only regular files can be written or updated.
std::unexpected<Error> NotAFile(std::string_view path, EntryKind kind) {
  if (kind == EntryKind::kMissing) return FailErrno("open", path, ENOENT);
  if (kind == EntryKind::kDirectory) return FailErrno("open", path, EISDIR);
  return Fail(ErrorKind::kInvalidRequest, fmt::format("open {}: not a regular file", path));
}

class Planner {
 public:
  Result<> Plan(const AddFile& add) { return Write(NormalPath(add.path), add.content, std::nullopt); }
  Result<> Plan(const DeleteFile& remove);
  Result<> Plan(const UpdateFile& update);

  apply_patch::Plan Take() { return {tree_.TakeFiles(), std::move(steps_)}; }

 private:
  Result<size_t> FindFile(const std::string& path);
  Result<> Read(size_t index, const std::string& path);
  Result<std::string> Updated(size_t index, const std::string& path, const UpdateFile& update);
  Result<> Change(size_t index, const std::string& path, std::string content);
  Result<> Write(const std::string& path, std::string content, std::optional<mode_t> permissions);
  Result<> Remove(const std::string& path);

  PlannedTree tree_;
  std::vector<Step> steps_;
};

Result<size_t> Planner::FindFile(const std::string& path) {
  TRY(const Spot spot, tree_.Find(path, LastLink::kFollow));
  if (spot.entry.kind != EntryKind::kFile) return NotAFile(path, spot.entry.kind);
  return spot.entry.index;
}

Result<> Planner::Read(size_t index, const std::string& path) {
  PlannedFile& file = tree_.file(index);
  if (file.original || !file.on_disk) return {};
  TRY(const OwnedFd fd, OpenRegular(path, O_RDONLY, *file.on_disk));
  struct stat status;
  if (::fstat(fd.get(), &status) < 0) return FailErrno("fstat", path);
  file.times[0] = status.st_atim;
  file.times[1] = status.st_mtim;
  TRY(file.original, ReadToEnd(fd.get(), path));
  return {};
}

// Plans new content for a file. The first change of a file on disk checks that it can be written, and reads its
// original content.
Result<> Planner::Change(size_t index, const std::string& path, std::string content) {
  PlannedFile& file = tree_.file(index);
  if (file.on_disk && !file.planned) {
    TRY(OwnedFd writable, OpenRegular(path, O_WRONLY, *file.on_disk));
    // A file that may be written but not read is changed all the same, although its content could not be restored.
    const auto read = Read(index, path);
    if (!read && read.error().kind != ErrorKind::kPermissionDenied) return read;
    steps_.emplace_back(WriteFile{path, index});
  }
  file.planned = std::move(content);
  return {};
}

Result<> Planner::Write(const std::string& path, std::string content, std::optional<mode_t> permissions) {
  TRY(Spot spot, tree_.Find(path, LastLink::kFollow));
  if (spot.entry.kind == EntryKind::kFile) return Change(spot.entry.index, path, std::move(content));
  if (spot.entry.kind != EntryKind::kMissing) return NotAFile(path, spot.entry.kind);
  if (!spot.missing_parents.empty()) {
    for (const std::string& parent : spot.missing_parents) steps_.emplace_back(MakeDirectory{parent});
    spot = tree_.MakeParents(spot, path);
  }
  const size_t index = tree_.MakeFile(spot, permissions);
  steps_.emplace_back(CreateFile{path, spot.place, index});
  return Change(index, path, std::move(content));
}

Result<> Planner::Remove(const std::string& path) {
  TRY(const Spot spot, tree_.Find(path, LastLink::kKeep));
  tree_.Remove(spot);
  steps_.emplace_back(RemoveName{path});
  return {};
}

Result<> Planner::Plan(const DeleteFile& remove) {
  const std::string path = NormalPath(remove.path);
  TRY(const Spot spot, tree_.Find(path, LastLink::kFollow));
  const EntryKind kind = spot.entry.kind;
  if (kind != EntryKind::kFile && kind != EntryKind::kOther) return NotAFile(path, kind);
  return Remove(path);
}

Result<std::string> Planner::Updated(size_t index, const std::string& path, const UpdateFile& update) {
  TRY_VOID(Read(index, path));
  const PlannedFile& file = tree_.file(index);
  const std::string& content = file.planned ? *file.planned : *file.original;
  if (!IsUtf8(content)) return Fail(ErrorKind::kInvalidRequest, fmt::format("{}: not UTF-8", update.path));
  auto updated = ApplyChunks(content, update.chunks);
  if (!updated) updated.error().message = fmt::format("{}: {}", update.path, updated.error().message);
  return updated;
}

Result<> Planner::Plan(const UpdateFile& update) {
  const std::string path = NormalPath(update.path);
  TRY(const size_t source, FindFile(path));
  TRY(std::string content, Updated(source, path, update));
  if (!update.move_to) return Change(source, path, std::move(content));
  const std::string target = NormalPath(*update.move_to);
  TRY(const Spot spot, tree_.Find(target, LastLink::kFollow));
  // A move of a file to itself is only a change: if it were written and then removed, it would be lost.
  if (spot.entry.kind == EntryKind::kFile && spot.entry.index == source) {
    return Change(source, path, std::move(content));
  }
  TRY_VOID(Write(target, std::move(content), tree_.file(source).permissions));
  return Remove(path);
}

}  // namespace

Result<Plan> MakePlan(const Patch& patch) {
  Planner planner;
  for (const Operation& operation : patch.operations) {
    TRY_VOID(std::visit([&](const auto& one) { return planner.Plan(one); }, operation));
  }
  return planner.Take();
}

}  // namespace holdfast::apply_patch
