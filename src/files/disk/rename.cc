#include "files/disk/rename.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstdio>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/owned_fd.h"
#include "files/disk/place.h"
#include "sys/open.h"
#include "sys/placeholder.h"
#include "sys/read_link.h"

namespace holdfast::files {
namespace {

constexpr int kMaxLinks = 40;  // the kernel's own limit

Error RenameError(const std::string& object, Existing existing, int errno_value) {
  switch (errno_value) {
    case EXDEV:
      return {ErrorKind::kSystem, fmt::format("rename {}: both must be on one file system", object)};
    case EINVAL:
      // The kernel has the same errno for both cases.
      return {ErrorKind::kInvalidRequest,
              fmt::format("rename {}: a directory cannot be moved into itself{}", object,
                          existing == Existing::kKeep ? ", or this file system knows replacing only" : "")};
    default:
      return ErrnoError("rename", object, errno_value);
  }
}

// Resolves a path as the kernel does, but one name at a time, so that the length of the path and of the result is not
// limited to PATH_MAX.
class Resolution {
 public:
  // Returns 0 or -errno.
  int Run(const std::string& path);

  std::string path() const;

 private:
  void Queue(std::string_view path);
  int Step(const std::string& name);
  int FollowLink(int link);
  int GoToRoot();

  OwnedFd at_;                       // O_PATH
  std::vector<std::string> names_;   // the components of the path of at_
  std::vector<std::string> queued_;  // the names that have yet to be resolved, the next one last
  int links_ = 0;
};

int Resolution::Run(const std::string& path) {
  Queue(path);
  if (const int failed = GoToRoot()) return failed;
  while (!queued_.empty()) {
    const std::string name = std::move(queued_.back());
    queued_.pop_back();
    if (const int failed = Step(name)) return failed;
  }
  return 0;
}

// Queues the names of a path. A name that is empty or "." is kept as ".", because the name before it must then be a
// directory.
void Resolution::Queue(std::string_view path) {
  while (!path.empty()) {
    const size_t slash = path.rfind('/');
    const std::string_view name = slash == std::string_view::npos ? path : path.substr(slash + 1);
    queued_.emplace_back(name.empty() ? "." : name);
    path = slash == std::string_view::npos ? "" : path.substr(0, slash);
  }
}

int Resolution::Step(const std::string& name) {
  const int opened = sys::TryOpenAt(at_.get(), name, O_PATH, sys::Links::kFollowToLast);
  if (opened < 0) return opened;
  OwnedFd next(opened);
  if (name == ".") return 0;
  struct stat status;
  if (::fstat(next.get(), &status) < 0) return -errno;
  if (S_ISLNK(status.st_mode)) return FollowLink(next.get());
  if (sys::IsPlaceholder(next.get())) return -ENOENT;
  at_ = std::move(next);
  if (name != "..") {
    names_.push_back(name);
  } else if (!names_.empty()) {
    names_.pop_back();
  }
  return 0;
}

int Resolution::FollowLink(int link) {
  if (++links_ > kMaxLinks) return -ELOOP;
  const auto target = sys::ReadLinkAt(link, "", "");
  if (!target) return -EIO;  // a link that is held open can be read unless its disk fails
  if (target->empty()) return -ENOENT;
  Queue(*target);
  return target->starts_with('/') ? GoToRoot() : 0;
}

int Resolution::GoToRoot() {
  const int opened = sys::TryOpenAt(AT_FDCWD, "/", O_PATH | O_DIRECTORY, sys::Links::kFollow);
  if (opened < 0) return opened;
  at_ = OwnedFd(opened);
  names_.clear();
  return 0;
}

std::string Resolution::path() const {
  std::string path;
  for (const std::string& name : names_) path.append("/").append(name);
  return path.empty() ? "/" : path;
}

// Moves a name. Returns 0 or -errno. A placeholder counts as missing at the source, and is not replaced at the
// destination, because the mount over it in a sandbox would go with it.
int MoveName(const std::string& source, const std::string& destination, Existing existing,
             const GuardedNames& guarded) {
  const auto from = FindNameToChange(source, sys::Links::kFollow, guarded);
  if (!from) return -from.error();
  const auto to = FindNameToChange(destination, sys::Links::kFollow, guarded);
  if (!to) return -to.error();
  const int old_directory = from->directory.get(), new_directory = to->directory.get();
  if (sys::IsPlaceholderAt(old_directory, from->name)) return -ENOENT;
  if (sys::IsPlaceholderAt(new_directory, to->name)) return -EBUSY;
  const unsigned flags = existing == Existing::kKeep ? RENAME_NOREPLACE : 0;
  return ::renameat2(old_directory, from->name.c_str(), new_directory, to->name.c_str(), flags) < 0 ? -errno : 0;
}

}  // namespace

Result<> Rename(const std::string& source, const std::string& destination, Existing existing,
                const GuardedNames& guarded) {
  const int failed = MoveName(source, destination, existing, guarded);
  if (failed == 0) return {};
  return std::unexpected(RenameError(fmt::format("{} to {}", source, destination), existing, -failed));
}

Result<std::string> Canonicalize(const std::string& path) {
  Resolution resolution;
  if (const int failed = resolution.Run(path)) return FailErrno("resolve", path, -failed);
  return resolution.path();
}

}  // namespace holdfast::files
