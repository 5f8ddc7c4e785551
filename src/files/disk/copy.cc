#include "files/disk/copy.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/types.h>

#include <cerrno>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/owned_fd.h"
#include "base/paths.h"
#include "base/result.h"
#include "files/disk/copy_entry.h"
#include "files/disk/descent.h"
#include "files/disk/directory.h"
#include "files/disk/file.h"
#include "files/disk/guarded_names.h"
#include "files/disk/metadata.h"
#include "files/disk/place.h"
#include "sys/file_identity.h"
#include "sys/open.h"
#include "sys/placeholder.h"
#include "sys/read_link.h"

namespace holdfast::files {
namespace {

// The most memory for the names of directories that have yet to be copied. A tree that needs more is refused, so the
// memory is bounded for every shape of a tree.
constexpr size_t kMaxPendingBytes = 64u << 20;

// The mode of a directory while it is filled.
constexpr mode_t kModeMeanwhile = 0700;

std::unexpected<Error> Failed(std::string_view call, const std::string& path, int errno_value) {
  return FailErrno(call, path, errno_value);
}

Result<struct stat> StatOf(int fd, const std::string& path) {
  struct stat status;
  if (::fstat(fd, &status) < 0) return Failed("fstat", path, errno);
  return status;
}

size_t BytesOf(const std::string& name) { return sizeof(std::string) + name.size(); }

// Opens the directory at this path or, if it does not exist, the nearest directory above it that does.
Result<OwnedFd> OpenNearest(std::string path) {
  for (;;) {
    const int opened = sys::TryOpenAt(AT_FDCWD, path, O_PATH | O_DIRECTORY, sys::Links::kFollow);
    if (opened >= 0) return OwnedFd(opened);
    if ((opened != -ENOENT && opened != -ENOTDIR) || path == "/") return Failed("open", path, -opened);
    path = std::string(ParentOf(path));
  }
}

Result<> CheckNotBelow(const struct stat& source, const std::string& destination) {
  TRY(OwnedFd directory, OpenNearest(destination));
  TRY(struct stat status, StatOf(directory.get(), destination));
  for (;;) {
    if (sys::IsSameFile(status, source)) {
      return Fail(ErrorKind::kInvalidRequest,
                  fmt::format("copy to {}: a directory cannot be copied to itself or below itself", destination));
    }
    TRY(directory, sys::OpenAt(directory.get(), "..", O_PATH | O_DIRECTORY, sys::Links::kNone));
    const struct stat below = status;
    TRY(status, StatOf(directory.get(), destination));
    if (sys::IsSameFile(status, below)) return {};  // the directory is the root
  }
}

struct Level {
  std::vector<std::string> pending;  // directories that have yet to be copied
  std::optional<mode_t> mode;        // the final mode of the destination; unset if the directory existed before
};

class TreeCopy {
 public:
  TreeCopy(Descent source, Descent destination, Level top, const GuardedNames& guarded)
      : source_(std::move(source)), destination_(std::move(destination)), guarded_(guarded) {
    levels_.push_back(std::move(top));
  }

  Result<> Run();

 private:
  Result<> CopyEntries();
  Result<> CopyEntry(const RawEntry& entry);
  Result<> CopyFileHere(const std::string& name);
  Result<> CopyLinkHere(const std::string& name);
  Result<> Remember(std::string name);
  Result<> Descend(const std::string& name);
  Result<Level> EnterDestination(const std::string& name, const struct stat& source);
  Result<> Ascend();
  Result<> Finish(int destination, const Level& level) const;
  Result<Target> TargetOf(const std::string& name) const;
  Result<> CheckDestination() const;

  Descent source_, destination_;
  const GuardedNames& guarded_;
  struct stat top_of_destination_{};
  std::vector<Level> levels_;  // one for each level of source_ and destination_
  size_t pending_bytes_ = 0;
};

Result<> TreeCopy::Run() {
  TRY(top_of_destination_, StatOf(destination_.fd(), destination_.PathOf(".")));
  TRY_VOID(CheckDestination());
  TRY_VOID(CopyEntries());
  for (;;) {
    std::vector<std::string>& pending = levels_.back().pending;
    if (!pending.empty()) {
      const std::string name = std::move(pending.back());
      pending.pop_back();
      pending_bytes_ -= BytesOf(name);
      TRY_VOID(Descend(name));
    } else if (source_.depth() > 0) {
      TRY_VOID(Ascend());
    } else {
      return Finish(destination_.fd(), levels_.back());
    }
  }
}

// Copies the entries of a directory except its directories, whose names are remembered.
Result<> TreeCopy::CopyEntries() {
  TRY(DirectoryReader reader, source_.List());
  for (;;) {
    TRY(const std::optional<RawEntry> entry, NextIn(reader));
    if (!entry) return {};
    TRY_VOID(CopyEntry(*entry));
  }
}

Result<> TreeCopy::CopyEntry(const RawEntry& entry) {
  const std::string name(entry.name);
  if (guarded_.CheckName(source_.fd(), name) != 0 || sys::IsListedPlaceholder(source_.fd(), name)) return {};
  unsigned char type = entry.type;
  if (type == DT_UNKNOWN) {
    struct stat status;
    const int flags = AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT;
    if (::fstatat(source_.fd(), name.c_str(), &status, flags) == 0) type = IFTODT(status.st_mode);
  }
  switch (type) {
    case DT_REG:
      return CopyFileHere(name);
    case DT_LNK:
      return CopyLinkHere(name);
    case DT_DIR:
      return Remember(name);
    default:
      return {};
  }
}

Result<> TreeCopy::CopyFileHere(const std::string& name) {
  auto source = File::OpenForReadingAt(source_.fd(), name, source_.PathOf(name));
  if (!source) {
    if (source.error().kind == ErrorKind::kNotFound) return {};
    return std::unexpected(std::move(source).error());
  }
  TRY(const Target target, TargetOf(name));
  return CopyFile(*source, target, sys::Links::kNone);
}

Result<> TreeCopy::CopyLinkHere(const std::string& name) {
  auto text = sys::ReadLinkAt(source_.fd(), name, source_.PathOf(name));
  if (!text) {
    if (text.error().kind == ErrorKind::kNotFound) return {};
    return std::unexpected(std::move(text).error());
  }
  TRY(const Target target, TargetOf(name));
  return MakeLink(*text, target);
}

Result<> TreeCopy::Remember(std::string name) {
  pending_bytes_ += BytesOf(name);
  if (pending_bytes_ > kMaxPendingBytes) {
    return Fail(ErrorKind::kLimit, fmt::format("copy {}: too many directories side by side", source_.PathOf(".")));
  }
  levels_.back().pending.push_back(std::move(name));
  return {};
}

Result<> TreeCopy::Descend(const std::string& name) {
  const int failed = source_.Enter(name);
  if (failed == -ENOENT) return {};
  if (failed != 0) return Failed("open", source_.PathOf(name), -failed);
  if (const int refused = guarded_.CheckDirectory(source_.fd())) return Failed("open", source_.PathOf("."), -refused);
  TRY(const struct stat status, StatOf(source_.fd(), source_.PathOf(".")));
  // A copy of a directory into itself would never end. CheckNotBelow does not recognise bind mounts, and does not see
  // directories that are moved later.
  if (sys::IsSameFile(status, top_of_destination_)) {
    TRY_VOID(source_.Leave());
    return {};
  }
  TRY(Level level, EnterDestination(name, status));
  levels_.push_back(std::move(level));
  return CopyEntries();
}

Result<Level> TreeCopy::EnterDestination(const std::string& name, const struct stat& source) {
  TRY(const Target target, TargetOf(name));
  const int failed = sys::MakeOrAdoptDirectory(target.directory, name, kModeMeanwhile);
  if (failed != 0 && failed != -EEXIST) return Failed("mkdir", target.path, -failed);
  if (const int closed = destination_.Enter(name)) return Failed("open", target.path, -closed);
  TRY_VOID(CheckDestination());
  if (failed == -EEXIST) return Level{};
  TRY(const struct stat status, StatOf(destination_.fd(), destination_.PathOf(".")));
  return Level{.pending = {}, .mode = ModeOfCopy(source, status)};
}

Result<> TreeCopy::Ascend() {
  TRY_VOID(source_.Leave());
  // The copy leaves the directory before it sets the final mode, because ".." cannot be opened in a directory without
  // the permission to search it.
  TRY(const OwnedFd left, destination_.Leave());
  const Level level = std::move(levels_.back());
  levels_.pop_back();
  return Finish(left.get(), level);
}

Result<> TreeCopy::Finish(int destination, const Level& level) const {
  if (level.mode && ::fchmodat(destination, ".", *level.mode, 0) < 0) {
    return Failed("chmod", destination_.PathOf("."), errno);
  }
  return {};
}

Result<Target> TreeCopy::TargetOf(const std::string& name) const {
  Target target{destination_.fd(), name, destination_.PathOf(name)};
  if (const int refused = guarded_.CheckName(target.directory, name)) return Failed("write", target.path, -refused);
  return target;
}

Result<> TreeCopy::CheckDestination() const {
  const int refused = guarded_.CheckDirectory(destination_.fd());
  if (refused != 0) return Failed("write", destination_.PathOf("."), -refused);
  return {};
}

struct Destination {
  OwnedFd directory;
  bool made;
};

// Makes the last directory of a path; the directories above it must exist. Returns 0 or -errno.
int MakeLast(const std::string& path, const GuardedNames& guarded) {
  const auto place = FindNameToChange(path, sys::Links::kFollow, guarded);
  return place ? sys::MakeOrAdoptDirectory(place->directory.get(), place->name, kModeMeanwhile) : -place.error();
}

Result<Destination> MakeDestination(const std::string& path, const GuardedNames& guarded) {
  int failed = MakeLast(path, guarded);
  if (failed == -ENOENT) {
    TRY_VOID(CreateDirectory(std::string(ParentOf(path)), Parents::kCreate, Symlinks::kFollow, guarded));
    failed = MakeLast(path, guarded);
  }
  if (failed != 0 && failed != -EEXIST) return Failed("mkdir", path, -failed);
  const bool made = failed == 0;
  const auto links = made ? sys::Links::kFollowToLast : sys::Links::kFollow;
  const int opened = sys::TryOpenAt(AT_FDCWD, path, O_PATH | O_DIRECTORY, links);
  // The destination is a file, or a link that points to nothing.
  if (!made && (opened == -ENOTDIR || opened == -ENOENT)) return Failed("mkdir", path, EEXIST);
  if (opened < 0) return Failed("open", path, -opened);
  return Destination{OwnedFd(opened), made};
}

// Copies the directory `source`, an O_PATH descriptor; its path is used in messages. A missing destination is made,
// with the directories on the way to it. The copy is merged into a destination that exists.
Result<> CopyTree(OwnedFd source, const std::string& source_path, const std::string& destination,
                  const GuardedNames& guarded) {
  TRY(const struct stat from, StatOf(source.get(), source_path));
  TRY_VOID(CheckNotBelow(from, destination));
  TRY(Destination made, MakeDestination(destination, guarded));
  TRY(const struct stat to, StatOf(made.directory.get(), destination));
  Level top;
  if (made.made) top.mode = ModeOfCopy(from, to);
  Descent down(std::move(source), source_path);
  Descent beside(std::move(made.directory), destination);
  return TreeCopy(std::move(down), std::move(beside), std::move(top), guarded).Run();
}

std::unexpected<Error> Refused(const std::string& source, std::string_view reason) {
  return Fail(ErrorKind::kInvalidRequest, fmt::format("copy {}: {}", source, reason));
}

// Copies a file. A link at the destination is followed by the kernel if there are no guarded names. Otherwise the place
// that the link leads to is found first, and checked.
Result<> CopyFileTo(const File& file, const std::string& destination, const GuardedNames& guarded) {
  if (guarded.empty()) return CopyFile(file, {AT_FDCWD, destination, destination}, sys::Links::kFollow);
  TRY(const Place place, FindPlaceToChange(destination, Symlinks::kFollow, guarded));
  return CopyFile(file, {place.directory.get(), place.name, destination}, sys::Links::kNone);
}

Result<> CopyLinkTo(const std::string& text, const std::string& destination, const GuardedNames& guarded) {
  const auto place = FindNameToChange(destination, sys::Links::kFollow, guarded);
  if (!place) return FailErrno("symlink", destination, place.error());
  return MakeLink(text, {place->directory.get(), place->name, destination});
}

}  // namespace

Result<> Copy(const std::string& source, const std::string& destination, Depth depth, const GuardedNames& guarded) {
  const size_t slash = source.rfind('/');
  const std::string name = slash + 1 < source.size() ? source.substr(slash + 1) : ".";
  TRY(const OwnedFd parent,
      sys::OpenAt(AT_FDCWD, source.substr(0, slash + 1), O_PATH | O_DIRECTORY, sys::Links::kFollow));
  struct stat status;
  if (::fstatat(parent.get(), name.c_str(), &status, AT_SYMLINK_NOFOLLOW) < 0) return FailErrno("stat", source);
  // A guarded name that must stay absent is not read either if another process has made it meanwhile.
  const bool is_absent = guarded.CheckChange(parent.get(), name) != 0 || sys::IsPlaceholderAt(parent.get(), name);
  if (is_absent) return FailErrno("stat", source, ENOENT);
  switch (status.st_mode & S_IFMT) {
    case S_IFREG: {
      TRY(const File file, File::OpenForReadingAt(parent.get(), name, source));
      return CopyFileTo(file, destination, guarded);
    }
    case S_IFLNK: {
      TRY(const std::string text, sys::ReadLinkAt(parent.get(), name, source));
      return CopyLinkTo(text, destination, guarded);
    }
    case S_IFDIR: {
      if (depth != Depth::kTree) return Refused(source, "a directory is copied as a tree only");
      TRY(OwnedFd directory, sys::OpenAt(parent.get(), name, O_PATH | O_DIRECTORY, sys::Links::kNone));
      return CopyTree(std::move(directory), source, destination, guarded);
    }
    default:
      return Refused(source, "neither a regular file nor a directory nor a symbolic link");
  }
}

}  // namespace holdfast::files
