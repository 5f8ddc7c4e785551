#include "apply_patch/apply.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <new>
#include <ranges>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "apply_patch/disk.h"
#include "base/random_id.h"
#include "sys/open.h"
#include "sys/signals.h"

namespace holdfast::apply_patch {
namespace {

// The ways to undo a step that was done or begun. Most of them refer to the plan and own nothing, so that adding one to
// the list, whose room is reserved, needs no memory.
struct RemoveDirectory {
  const std::string& path;
};
struct RestoreContent {
  const std::string& path;
  const PlannedFile& file;
};
struct RemoveCreated {
  const std::string& place;
  sys::FileIdentity created;
};
struct RenameBack {
  std::string aside;
  const std::string& path;
};

using Undo = std::variant<RemoveDirectory, RestoreContent, RemoveCreated, RenameBack>;

std::unexpected<Error> CallFailed(std::string_view call, const std::string& path) { return FailErrno(call, path); }

// Returns a name in the directory of `path` that no other program uses.
std::string NameAside(const std::string& path) {
  const size_t slash = path.rfind('/');
  const std::string_view directory = std::string_view(path).substr(0, slash == std::string::npos ? 0 : slash + 1);
  return fmt::format("{}.apply_patch.{}", directory, RandomUuid());
}

// Renames a file without replacing another one. Some file systems, such as NFS, cannot guarantee that; on these the
// function only checks beforehand that the name is free.
Result<> RenameToFree(const std::string& from, const std::string& to) {
  if (::renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_NOREPLACE) == 0) return {};
  if (errno != EINVAL && errno != ENOSYS) return CallFailed("rename", from);
  struct stat status;
  if (::lstat(to.c_str(), &status) == 0) return FailErrno("rename", from, EEXIST);
  if (::rename(from.c_str(), to.c_str()) < 0) return CallFailed("rename", from);
  return {};
}

std::string PathOf(const RemoveDirectory& undo) { return undo.path; }
std::string PathOf(const RestoreContent& undo) { return undo.path; }
std::string PathOf(const RemoveCreated& undo) { return undo.place; }
std::string PathOf(const RenameBack& undo) { return fmt::format("{} (now {})", undo.path, undo.aside); }

Result<> Revert(const RemoveDirectory& undo) {
  if (::rmdir(undo.path.c_str()) < 0) return CallFailed("rmdir", undo.path);
  return {};
}

Result<> Revert(const RestoreContent& undo) {
  if (!undo.file.original) return Fail(ErrorKind::kSystem, "its content could not be read before it was changed");
  TRY(OwnedFd fd, OpenRegular(undo.path, O_WRONLY, *undo.file.on_disk));
  TRY_VOID(Overwrite(fd.get(), undo.path, *undo.file.original));
  (void)::futimens(fd.get(), undo.file.times);  // only the owner may set times; the content is what matters
  return Close(std::move(fd), undo.path);
}

Result<> Revert(const RemoveCreated& undo) {
  struct stat status;
  if (::lstat(undo.place.c_str(), &status) < 0) return CallFailed("lstat", undo.place);
  if (sys::FileIdentity::Of(status) != undo.created) {
    return Fail(ErrorKind::kSystem, "another program has replaced the file");
  }
  if (::unlink(undo.place.c_str()) < 0) return CallFailed("unlink", undo.place);
  return {};
}

Result<> Revert(const RenameBack& undo) { return RenameToFree(undo.aside, undo.path); }

class Transaction {
 public:
  explicit Transaction(const Plan& plan) : plan_(plan) {}

  Result<> Run() {
    auto done = DoAll();
    if (!done) return std::unexpected(UndoAll(std::move(done).error()));
    return RemoveLeftovers();
  }

 private:
  // Does all steps of the plan. A lack of memory is a failure like any other, after which the steps are undone.
  Result<> DoAll() {
    try {
      undo_.reserve(plan_.steps.size());
      for (const Step& step : plan_.steps) TRY_VOID(DoStep(step));
      return {};
    } catch (const std::bad_alloc&) {
      return Fail(ErrorKind::kSystem, "out of memory");
    }
  }

  Result<> DoStep(const Step& step) {
    const bool is_last = &step == &plan_.steps.back();
    if (is_last && std::holds_alternative<RemoveName>(step)) return RemoveForGood(std::get<RemoveName>(step).path);
    return std::visit([&](const auto& one) { return Do(one); }, step);
  }

  Result<> Do(const MakeDirectory& step) {
    if (::mkdir(step.path.c_str(), 0777) == 0) {
      undo_.emplace_back(RemoveDirectory{step.path});
      return {};
    }
    // Another program, perhaps a second apply_patch, may have made the directory meanwhile. Undoing then leaves it
    // alone.
    struct stat status;
    const int problem = errno;
    if (problem == EEXIST && ::stat(step.path.c_str(), &status) == 0 && S_ISDIR(status.st_mode)) return {};
    return FailErrno("mkdir", step.path, problem);
  }

  Result<> Do(const WriteFile& step) {
    const PlannedFile& file = plan_.files[step.file];
    TRY(OwnedFd fd, OpenRegular(step.path, O_WRONLY, *file.on_disk));
    undo_.emplace_back(RestoreContent{step.path, file});
    TRY_VOID(Overwrite(fd.get(), step.path, *file.planned));
    return Close(std::move(fd), step.path);
  }

  Result<> Do(const CreateFile& step) {
    const PlannedFile& file = plan_.files[step.file];
    // With O_EXCL the kernel would not create a file through a link.
    const int exclusively = step.path == step.place ? O_EXCL : 0;
    TRY(OwnedFd fd, sys::OpenAt(AT_FDCWD, step.path, O_WRONLY | O_CREAT | O_NONBLOCK | exclusively, sys::Links::kFollow,
                                file.permissions.value_or(0666)));
    struct stat status;
    if (::fstat(fd.get(), &status) < 0) return CallFailed("fstat", step.path);
    if (!S_ISREG(status.st_mode) || status.st_size > 0) {
      return Fail(ErrorKind::kSystem, fmt::format("open {}: another program has created the file", step.path));
    }
    undo_.emplace_back(RemoveCreated{step.place, sys::FileIdentity::Of(status)});
    TRY_VOID(Overwrite(fd.get(), step.path, *file.planned));
    // The umask may have removed permissions. A file system without modes refuses the call, and nothing is lost by
    // that.
    if (file.permissions) (void)::fchmod(fd.get(), *file.permissions);
    return Close(std::move(fd), step.path);
  }

  Result<> Do(const RemoveName& step) {
    std::string aside = NameAside(step.path);
    TRY_VOID(RenameToFree(step.path, aside));
    undo_.emplace_back(RenameBack{std::move(aside), step.path});
    return {};
  }

  // Removes a name in the last step of a plan. The last step is never undone, so the name is unlinked at once.
  static Result<> RemoveForGood(const std::string& path) {
    if (::unlink(path.c_str()) < 0) return CallFailed("unlink", path);
    return {};
  }

  Result<> RemoveLeftovers() const {
    std::vector<std::string> left;
    for (const Undo& undo : undo_) {
      const auto* renamed = std::get_if<RenameBack>(&undo);
      if (renamed == nullptr || ::unlink(renamed->aside.c_str()) == 0) continue;
      const int problem = errno;
      left.push_back(fmt::format("{}: {}", PathOf(*renamed), ErrnoText(problem)));
    }
    if (left.empty()) return {};
    return Fail(ErrorKind::kSystem, fmt::format("the patch is applied, but these removed files are still there:\n  {}",
                                                fmt::join(left, "\n  ")));
  }

  // Undoes all steps, and returns the error that was the reason, extended by the outcome. Steps are undone even without
  // memory; only the paths of steps that could not be undone may then be missing from the message.
  Error UndoAll(Error cause) const {
    std::vector<std::string> changed;
    size_t unnamed = 0;
    for (const Undo& undo : undo_ | std::views::reverse) {
      try {
        std::visit([&](const auto& one) { NoteFailure(one, Revert(one), changed); }, undo);
      } catch (const std::bad_alloc&) {
        ++unnamed;
      }
    }
    if (changed.empty() && unnamed == 0) {
      cause.message += "; every file is as it was";
      return cause;
    }
    if (unnamed > 0) changed.push_back(fmt::format("{} more, without memory to name them", unnamed));
    cause.message += fmt::format("; these could not be restored and are changed:\n  {}", fmt::join(changed, "\n  "));
    return cause;
  }

  static void NoteFailure(const auto& undo, const Result<>& done, std::vector<std::string>& changed) {
    if (!done) changed.push_back(fmt::format("{}: {}", PathOf(undo), done.error().message));
  }

  const Plan& plan_;
  std::vector<Undo> undo_;
};

}  // namespace

// Signals are blocked, because a signal that ended the program would leave a patch half applied.
Result<> Apply(const Plan& plan) {
  const sys::SignalsBlocked blocked;
  return Transaction(plan).Run();
}

}  // namespace holdfast::apply_patch
