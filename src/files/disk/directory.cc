#include "files/disk/directory.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <optional>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "base/owned_fd.h"
#include "files/disk/place.h"
#include "sys/open.h"
#include "sys/placeholder.h"

namespace holdfast::files {
namespace {

constexpr size_t kBufferBytes = 64u << 10;

bool IsDots(std::string_view name) { return name == "." || name == ".."; }

constexpr int kDirectoryOnly = O_PATH | O_DIRECTORY;
constexpr mode_t kMode = 0777;  // the kernel removes the bits of the umask

std::unexpected<Error> Failed(const std::string& path, int errno_value) {
  return FailErrno("mkdir", path, errno_value);
}

int MakeAt(int directory, const std::string& name, const GuardedNames& guarded) {
  const int refused = guarded.CheckChange(directory, name);
  return refused != 0 ? refused : sys::MakeOrAdoptDirectory(directory, name, kMode);
}

// Opens a directory that exists. Returns -errno otherwise, which is -ENOENT for a placeholder.
int OpenExisting(int parent, const std::string& name, sys::Links links) {
  const int opened = sys::TryOpenAt(parent, name, kDirectoryOnly, links);
  if (opened < 0 || !sys::IsPlaceholder(opened)) return opened;
  ::close(opened);
  return -ENOENT;
}

// Opens a directory in `parent`, and makes it if it is missing. Returns -errno otherwise. It is no error if another
// process makes the directory at the same time.
int OpenOrMake(int parent, const std::string& name, sys::Links links, const GuardedNames& guarded) {
  const int opened = OpenExisting(parent, name, links);
  if (opened != -ENOENT) return opened;
  const int failed = MakeAt(parent, name, guarded);
  if (failed != 0 && failed != -EEXIST) return failed;
  const int made = sys::TryOpenAt(parent, name, kDirectoryOnly, links);
  // The name exists but leads to nothing: it is a link whose target is missing.
  return made == -ENOENT && failed == -EEXIST ? -EEXIST : made;
}

struct Component {
  size_t begin, end;
};

std::optional<Component> NextComponent(const std::string& path, size_t from) {
  const size_t begin = path.find_first_not_of('/', from);
  if (begin == std::string::npos) return std::nullopt;
  return Component{begin, std::min(path.find('/', begin), path.size())};
}

// Makes a directory and the missing ones above it. It goes from one directory descriptor to the next, so that each
// directory is made in the very one that was made or checked before.
Result<> MakeWithParents(const std::string& path, sys::Links links, const GuardedNames& guarded) {
  if (const int opened = OpenExisting(AT_FDCWD, path, links); opened >= 0) {
    const OwnedFd exists(opened);
    return {};
  }
  TRY(OwnedFd directory, sys::OpenAt(AT_FDCWD, path.starts_with('/') ? "/" : ".", kDirectoryOnly, links));
  auto component = NextComponent(path, 0);
  while (component) {
    const auto [begin, end] = *component;
    component = NextComponent(path, end);
    const int opened = OpenOrMake(directory.get(), path.substr(begin, end - begin), links, guarded);
    const bool is_last = !component;
    // The path exists, but is not a directory.
    if (opened == -ENOTDIR && is_last) return Failed(path, EEXIST);
    if (opened < 0) return Failed(path.substr(0, end), -opened);
    directory = OwnedFd(opened);
  }
  return {};
}

// Makes one directory. All components of the path but the last must exist.
Result<> MakeLast(const std::string& path, sys::Links links, const GuardedNames& guarded) {
  const size_t last = path.find_last_not_of('/');
  if (last == std::string::npos) return Failed(path, EEXIST);
  const auto place = FindNameToChange(path.substr(0, last + 1), links, guarded);
  if (!place) return Failed(path, place.error());
  const int failed = sys::MakeOrAdoptDirectory(place->directory.get(), place->name, kMode);
  if (failed != 0) return Failed(path, -failed);
  return {};
}

// Returns the entry, or nothing for a placeholder or a link whose target is missing.
std::optional<DirectoryEntry> Describe(int directory, const RawEntry& raw) {
  DirectoryEntry entry{
      .name = std::string(raw.name), .is_directory = raw.type == DT_DIR, .is_file = raw.type == DT_REG};
  if (sys::IsListedPlaceholder(directory, entry.name)) return std::nullopt;
  if (raw.type != DT_LNK && raw.type != DT_UNKNOWN) return entry;
  struct stat status;
  if (::fstatat(directory, entry.name.c_str(), &status, AT_NO_AUTOMOUNT) < 0) return std::nullopt;
  if (sys::IsPlaceholderOfMode(status.st_mode, directory, entry.name, sys::Links::kFollow)) return std::nullopt;
  entry.is_directory = S_ISDIR(status.st_mode);
  entry.is_file = S_ISREG(status.st_mode);
  return entry;
}

}  // namespace

Result<std::optional<RawEntry>> DirectoryReader::Next() {
  for (;;) {
    if (taken_ == filled_) {
      TRY_VOID(Fill());
      if (filled_ == 0) return std::nullopt;
    }
    const auto* entry = reinterpret_cast<const dirent64*>(buffer_.get() + taken_);
    taken_ += entry->d_reclen;
    const std::string_view name(static_cast<const char*>(entry->d_name));
    if (!IsDots(name)) return RawEntry{name, entry->d_type};
  }
}

Result<> DirectoryReader::Fill() {
  if (!buffer_) buffer_ = std::make_unique_for_overwrite<std::byte[]>(kBufferBytes);
  taken_ = filled_ = 0;
  const ssize_t n = ::getdents64(directory_.get(), buffer_.get(), kBufferBytes);
  if (n < 0) return FailErrno("getdents64", path_);
  filled_ = static_cast<size_t>(n);
  return {};
}

Result<> CreateDirectory(const std::string& path, Parents parents, Symlinks symlinks, const GuardedNames& guarded) {
  if (path.empty()) return Failed(path, ENOENT);
  if (parents == Parents::kCreate) return MakeWithParents(path, LinksOf(symlinks), guarded);
  return MakeLast(path, LinksOf(symlinks), guarded);
}

Result<std::vector<DirectoryEntry>> ReadDirectory(const std::string& path, size_t max_entries) {
  if (sys::IsPlaceholderAt(AT_FDCWD, path, sys::Links::kFollow)) return FailErrno("open", path, ENOENT);
  TRY(OwnedFd directory, sys::OpenAt(AT_FDCWD, path, O_RDONLY | O_DIRECTORY, sys::Links::kFollow));
  DirectoryReader reader(std::move(directory), path);
  std::vector<DirectoryEntry> entries;
  for (size_t names = 0;; ++names) {
    TRY(const std::optional<RawEntry> raw, reader.Next());
    if (!raw) return entries;
    if (names == max_entries) {
      return Fail(ErrorKind::kSystem, fmt::format("directory {}: more than {} entries", path, max_entries));
    }
    if (auto entry = Describe(reader.fd(), *raw)) entries.push_back(*std::move(entry));
  }
}

}  // namespace holdfast::files
