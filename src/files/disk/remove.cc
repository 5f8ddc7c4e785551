#include "files/disk/remove.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <optional>
#include <utility>
#include <vector>

#include "base/owned_fd.h"
#include "files/disk/descent.h"
#include "files/disk/directory.h"
#include "sys/open.h"
#include "sys/placeholder.h"

namespace holdfast::files {
namespace {

// The most directories that one pass over their parent finds. Their names are kept in memory until each is emptied.
constexpr size_t kMaxPending = 256;

// The most attempts at one name while another process replaces it, or fills it again, at the same time.
constexpr int kMaxAttempts = 32;

bool IsLink(int directory, const std::string& name) {
  struct stat status;
  return ::fstatat(directory, name.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0 && S_ISLNK(status.st_mode);
}

enum class Guess { kDirectory, kOther };

// Removes a name of any kind. Returns 0 or -errno, which is -ENOTEMPTY for a directory that is not empty. A mount point
// is -EBUSY, so nothing inside the mount is reached.
int RemoveName(int directory, const char* name, Guess guess) {
  int flags = guess == Guess::kDirectory ? AT_REMOVEDIR : 0;
  for (int attempt = 0; attempt < kMaxAttempts; ++attempt) {
    if (::unlinkat(directory, name, flags) == 0) return 0;
    if (errno == EEXIST) return -ENOTEMPTY;
    if (errno != (flags == AT_REMOVEDIR ? ENOTDIR : EISDIR)) return -errno;
    flags ^= AT_REMOVEDIR;
  }
  return -EBUSY;
}

// Removes the name that the client has given in the same way, if it is not guarded. A placeholder counts as missing.
int RemoveAllowed(int directory, const std::string& name, const GuardedNames& guarded) {
  if (const int refused = guarded.CheckChange(directory, name)) return refused;
  return sys::IsPlaceholderAt(directory, name) ? -ENOENT : RemoveName(directory, name.c_str(), Guess::kOther);
}

class TreeRemoval {
 public:
  TreeRemoval(Descent parent, const GuardedNames& guarded) : descent_(std::move(parent)), guarded_(guarded) {}

  Result<> Run(std::string name);

 private:
  struct Level {
    std::vector<std::string> pending;  // directories that have yet to be emptied
    bool swept = false;                // whether only the directories in `pending` are left
    int attempts = 0;                  // the attempts at the current name
  };

  Result<> Sweep();
  Result<> Descend(const std::string& name);
  Result<> Ascend();
  Result<> TryAgain(const std::string& name);
  Result<bool> RemoveHere(const char* name, Guess guess);
  void ForgetHighest();

  Descent descent_;
  const GuardedNames& guarded_;
  std::vector<Level> levels_;  // one for each level of descent_
};

// The parent directory is a level too, but it is never swept, because only one name in it is to be removed.
Result<> TreeRemoval::Run(std::string name) {
  levels_.push_back({.pending = {std::move(name)}, .swept = true});
  for (;;) {
    Level& level = levels_.back();
    if (!level.pending.empty()) {
      const std::string next = std::move(level.pending.back());
      level.pending.pop_back();
      TRY_VOID(Descend(next));
    } else if (!level.swept) {
      TRY_VOID(Sweep());
    } else if (descent_.depth() > 0) {
      TRY_VOID(Ascend());
    } else {
      return {};
    }
  }
}

Result<> TreeRemoval::Descend(const std::string& name) {
  const int failed = descent_.Enter(name);
  if (failed == -ENOENT) return {};
  if (failed == -ENOTDIR || failed == -ELOOP) return TryAgain(name);
  if (failed != 0) return FailErrno("open", descent_.PathOf(name), -failed);
  if (const int refused = guarded_.CheckDirectory(descent_.fd())) {
    return FailErrno("remove", descent_.PathOf("."), -refused);
  }
  levels_.emplace_back();
  ForgetHighest();
  return {};
}

Result<> TreeRemoval::Ascend() {
  const std::string name = descent_.name();
  TRY_VOID(descent_.Leave());
  levels_.pop_back();
  return TryAgain(name);
}

// Tries to remove a name again after its directory has been emptied, or when it turned out to be no directory.
Result<> TreeRemoval::TryAgain(const std::string& name) {
  Level& level = levels_.back();
  if (level.attempts++ == kMaxAttempts) return FailErrno("remove", descent_.PathOf(name), ENOTEMPTY);
  TRY(const bool removed, RemoveHere(name.c_str(), Guess::kDirectory));
  if (removed) level.attempts = 0;
  return {};
}

// Removes everything in a directory that can be removed at once, and remembers the directories that are not empty.
Result<> TreeRemoval::Sweep() {
  Level& level = levels_.back();
  TRY(DirectoryReader reader, descent_.List());
  while (level.pending.size() < kMaxPending) {
    TRY(const std::optional<RawEntry> entry, NextIn(reader));
    if (!entry) {
      level.swept = true;
      return {};
    }
    TRY_VOID(RemoveHere(entry->name.data(), entry->type == DT_DIR ? Guess::kDirectory : Guess::kOther));
  }
  return {};
}

// Removes a name in the current directory. Returns false for a directory that must be emptied first, and remembers it.
Result<bool> TreeRemoval::RemoveHere(const char* name, Guess guess) {
  const int refused = guarded_.CheckName(descent_.fd(), name);
  const int failed = refused != 0 ? refused : RemoveName(descent_.fd(), name, guess);
  if (failed == 0 || failed == -ENOENT) return true;
  if (failed != -ENOTEMPTY) return FailErrno("remove", descent_.PathOf(name), -failed);
  levels_.back().pending.emplace_back(name);
  return false;
}

// Drops the names that are remembered for a level far above. They are found again on the way back. So the memory is
// bounded for every shape of a tree.
void TreeRemoval::ForgetHighest() {
  if (levels_.size() <= Descent::kMaxOpen + 1) return;
  Level& highest = levels_[levels_.size() - 1 - Descent::kMaxOpen];
  highest.pending = {};
  highest.swept = false;
}

}  // namespace

Result<> Remove(const std::string& path, const RemoveOptions& options, const GuardedNames& guarded) {
  const size_t slash = path.rfind('/');
  const std::string parent = path.substr(0, slash + 1);
  const std::string name = path.substr(slash + 1);
  if (name.empty()) return Fail(ErrorKind::kInvalidRequest, "remove " + path + ": the root directory stays");
  const bool may_be_absent = options.absence == Absence::kIsFine;

  auto directory = sys::OpenAt(AT_FDCWD, parent, O_PATH | O_DIRECTORY, LinksOf(options.symlinks));
  if (!directory) {
    if (may_be_absent && directory.error().kind == ErrorKind::kNotFound) return {};
    return std::unexpected(std::move(directory).error());
  }
  if (options.symlinks == Symlinks::kRefuse && IsLink(directory->get(), name)) {
    return Fail(ErrorKind::kInvalidRequest, "remove " + path + ": it is a symbolic link");
  }
  const int failed = RemoveAllowed(directory->get(), name, guarded);
  if (failed == 0 || (failed == -ENOENT && may_be_absent)) return {};
  if (failed == -ENOTEMPTY && options.depth == Depth::kTree) {
    return TreeRemoval(Descent(*std::move(directory), parent), guarded).Run(name);
  }
  return FailErrno("remove", path, -failed);
}

}  // namespace holdfast::files
