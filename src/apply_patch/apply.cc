#include "apply_patch/apply.h"

#include <fcntl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "apply_patch/disk.h"
#include "base/paths.h"
#include "sys/open.h"

namespace holdfast::apply_patch {
namespace {

// How to take back a step that was done, or begun.
struct RemoveDirectory {
  std::string path;
};
struct RestoreContent {
  std::string path;
  const PlannedFile& file;
};
struct RemoveCreated {
  std::string place;
  Identity created;
};
struct RenameBack {
  std::string aside, path;
};

using Undo = std::variant<RemoveDirectory, RestoreContent, RemoveCreated, RenameBack>;

std::unexpected<Error> CallFailed(std::string_view call, const std::string& path) {
  return std::unexpected(ErrnoError(call, path, errno));
}

// A name beside `path` that no other program uses.
std::string NameAside(const std::string& path) {
  uint64_t random = 0;
  (void)::getrandom(&random, sizeof random, 0);  // zeros, at worst: a name all the same
  const std::string name = fmt::format(".apply_patch.{:016x}", random);
  const size_t slash = path.rfind('/');
  return slash == std::string::npos ? name : path.substr(0, slash + 1) + name;
}

std::string PathOf(const RemoveDirectory& undo) { return undo.path; }
std::string PathOf(const RestoreContent& undo) { return undo.path; }
std::string PathOf(const RemoveCreated& undo) { return undo.place; }
std::string PathOf(const RenameBack& undo) { return fmt::format("{} (now {})", undo.path, undo.aside); }

Result<> TakeBack(const RemoveDirectory& undo) {
  if (::rmdir(undo.path.c_str()) < 0) return CallFailed("rmdir", undo.path);
  return {};
}

Result<> TakeBack(const RestoreContent& undo) {
  if (!undo.file.original) return Fail(ErrorKind::kSystem, "its content could not be read before");
  TRY(OwnedFd fd, OpenRegular(undo.path, O_WRONLY, *undo.file.on_disk));
  TRY_VOID(Overwrite(fd.get(), undo.path, *undo.file.original));
  (void)::futimens(fd.get(), undo.file.times);  // only the owner may; the content is what counts
  return Close(std::move(fd), undo.path);
}

Result<> TakeBack(const RemoveCreated& undo) {
  struct stat status;
  if (::lstat(undo.place.c_str(), &status) < 0) return CallFailed("lstat", undo.place);
  if (Identity::Of(status) != undo.created) return Fail(ErrorKind::kSystem, "it was replaced meanwhile");
  if (::unlink(undo.place.c_str()) < 0) return CallFailed("unlink", undo.place);
  return {};
}

Result<> TakeBack(const RenameBack& undo) {
  if (::rename(undo.aside.c_str(), undo.path.c_str()) < 0) return CallFailed("rename", undo.aside);
  return {};
}

class Transaction {
 public:
  explicit Transaction(const Plan& plan) : plan_(plan) {}

  Result<> Run() {
    for (const Step& step : plan_.steps) {
      const bool is_last = &step == &plan_.steps.back();
      auto done = is_last && std::holds_alternative<RemoveName>(step)
                      ? RemoveForGood(std::get<RemoveName>(step).path)
                      : std::visit([&](const auto& one) { return Do(one); }, step);
      if (!done) return std::unexpected(UndoAll(std::move(done).error()));
    }
    return RemoveLeftovers();
  }

 private:
  Result<> Do(const MakeDirectory& step) {
    if (::mkdir(step.path.c_str(), 0777) == 0) {
      undo_.emplace_back(RemoveDirectory{step.path});
      return {};
    }
    // Another program, a second patch perhaps, may have made it first. It is not ours to remove then.
    struct stat status;
    const int problem = errno;
    if (problem == EEXIST && ::stat(step.path.c_str(), &status) == 0 && S_ISDIR(status.st_mode)) return {};
    return std::unexpected(ErrnoError("mkdir", step.path, problem));
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
    // Through a link the kernel would not create a file with O_EXCL.
    const int exclusively = step.path == step.place ? O_EXCL : 0;
    TRY(OwnedFd fd, sys::OpenAt(AT_FDCWD, step.path, O_WRONLY | O_CREAT | O_NONBLOCK | exclusively, sys::Links::kFollow,
                                file.permissions.value_or(0666)));
    struct stat status;
    if (::fstat(fd.get(), &status) < 0) return CallFailed("fstat", step.path);
    if (!S_ISREG(status.st_mode) || status.st_size > 0) {
      return Fail(ErrorKind::kSystem, fmt::format("open {}: somebody else has made it meanwhile", step.path));
    }
    undo_.emplace_back(RemoveCreated{step.place, Identity::Of(status)});
    TRY_VOID(Overwrite(fd.get(), step.path, *file.planned));
    // What the umask has taken away. A file system without modes refuses, and has lost nothing.
    if (file.permissions) (void)::fchmod(fd.get(), *file.permissions);
    return Close(std::move(fd), step.path);
  }

  Result<> Do(const RemoveName& step) {
    const std::string aside = NameAside(step.path);
    if (::rename(step.path.c_str(), aside.c_str()) < 0) return CallFailed("unlink", step.path);
    undo_.emplace_back(RenameBack{aside, step.path});
    return {};
  }

  // After the last step nothing can fail.
  static Result<> RemoveForGood(const std::string& path) {
    if (::unlink(path.c_str()) < 0) return CallFailed("unlink", path);
    return {};
  }

  Result<> RemoveLeftovers() const {
    for (const Undo& undo : undo_) {
      const auto* renamed = std::get_if<RenameBack>(&undo);
      if (renamed == nullptr || ::unlink(renamed->aside.c_str()) == 0) continue;
      const Error error = ErrnoError("unlink", renamed->aside, errno);
      return Fail(error.kind, fmt::format("{}; the patch is applied, but what was {} is still there under that name",
                                          error.message, renamed->path));
    }
    return {};
  }

  // The error that made it necessary, and what came of it.
  Error UndoAll(Error cause) const {
    std::vector<std::string> changed;
    for (auto undo = undo_.rbegin(); undo != undo_.rend(); ++undo) {
      std::visit(
          [&](const auto& one) {
            if (const auto done = TakeBack(one); !done) {
              changed.push_back(fmt::format("{}: {}", PathOf(one), done.error().message));
            }
          },
          *undo);
    }
    if (changed.empty()) {
      cause.message += "; every file is as it was";
    } else {
      cause.message += fmt::format("; these could not be put back and are changed:\n  {}", fmt::join(changed, "\n  "));
    }
    return cause;
  }

  const Plan& plan_;
  std::vector<Undo> undo_;
};

// Signals wait while this lives: the end of the program half way would leave a patch half applied.
class SignalsHeld {
 public:
  SignalsHeld() {
    sigset_t all;
    ::sigfillset(&all);
    ::sigprocmask(SIG_BLOCK, &all, &before_);
  }
  ~SignalsHeld() { ::sigprocmask(SIG_SETMASK, &before_, nullptr); }
  SignalsHeld(const SignalsHeld&) = delete;
  SignalsHeld& operator=(const SignalsHeld&) = delete;

 private:
  sigset_t before_;
};

}  // namespace

Result<> Apply(const Plan& plan) {
  const SignalsHeld signals;
  return Transaction(plan).Run();
}

}  // namespace holdfast::apply_patch
