#include "sandbox/resolve/directory_listing.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <span>

#include "base/owned_fd.h"
#include "sys/open.h"

namespace holdfast::sandbox {
namespace {

EntryKind KindOfMode(mode_t mode) {
  if (S_ISDIR(mode)) return EntryKind::kDirectory;
  if (S_ISREG(mode)) return EntryKind::kFile;
  return S_ISLNK(mode) ? EntryKind::kLink : EntryKind::kOther;
}

// An entry that was removed meanwhile counts as kOther: no process can read it any more.
EntryKind AskKind(int directory, const char* name) {
  struct stat status{};
  const bool is_there = ::fstatat(directory, name, &status, AT_SYMLINK_NOFOLLOW) == 0;
  return is_there ? KindOfMode(status.st_mode) : EntryKind::kOther;
}

EntryKind KindOf(int directory, const dirent64& entry) {
  return entry.d_type == DT_UNKNOWN ? AskKind(directory, entry.d_name) : KindOfMode(DTTOIF(entry.d_type));
}

bool IsDots(std::string_view name) { return name == "." || name == ".."; }

Listing VisitAll(int directory, std::span<const std::byte> entries, const VisitEntry& visit) {
  for (size_t at = 0; at < entries.size();) {
    const auto& entry = *reinterpret_cast<const dirent64*>(entries.data() + at);
    at += entry.d_reclen;
    const std::string_view name(static_cast<const char*>(entry.d_name));
    if (!IsDots(name) && visit(name, KindOf(directory, entry)) == Listing::kStop) return Listing::kStop;
  }
  return Listing::kContinue;
}

}  // namespace

bool IsNoDirectory(int error) { return error == ENOENT || error == ENOTDIR || error == ELOOP; }

Result<> ListOpenDirectory(int directory, const std::string& path, const VisitEntry& visit) {
  alignas(dirent64) std::array<std::byte, 32u << 10> buffer;
  ssize_t n;
  while ((n = ::getdents64(directory, buffer.data(), buffer.size())) > 0) {
    if (VisitAll(directory, {buffer.data(), static_cast<size_t>(n)}, visit) == Listing::kStop) return {};
  }
  // ENOENT means that the directory was removed while it was listed.
  return n == 0 || errno == ENOENT ? Result<>() : FailErrno("getdents64", path);
}

Result<> ListDirectory(int root, const std::string& path, const VisitEntry& visit) {
  const std::string name = path.empty() ? "." : path;
  const int opened = sys::TryOpenAt(root, name, O_RDONLY | O_DIRECTORY, sys::Links::kNone);
  if (IsNoDirectory(-opened)) return {};
  if (opened < 0) return FailErrno("open", name, -opened);
  const OwnedFd directory(opened);
  return ListOpenDirectory(directory.get(), name, visit);
}

}  // namespace holdfast::sandbox
