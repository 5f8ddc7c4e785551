#include "sandbox/native/holds.h"

#include <fcntl.h>
#include <sys/stat.h>

#include "sandbox/native/mount_calls.h"

namespace holdfast::sandbox {
namespace {

constexpr const char* kPlaces = "held directories";
constexpr const char* kCover = "cover";

Result<OwnedFd> OpenIn(int places, const char* name) {
  OwnedFd directory(::openat(places, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!directory.is_open()) return FailErrno("open", kPlaces);
  return directory;
}

Result<> Fill(int places, size_t count) {
  if (::mkdirat(places, kCover, 0) < 0) return FailErrno("mkdir", kPlaces);
  for (size_t place = 0; place < count; ++place) {
    if (::mkdirat(places, std::to_string(place).c_str(), 0) < 0) return FailErrno("mkdir", kPlaces);
  }
  return {};
}

}  // namespace

// Copies of a read-only mount are read-only too, so the covers need no attributes of their own.
Result<Holds> Holds::Make(int target, size_t count) {
  TRY(OwnedFd places, NewTmpfs(0700));
  TRY_VOID(Attach(places.get(), target, kPlaces));
  TRY_VOID(Fill(places.get(), count));
  TRY_VOID(SetAttributes(places.get(), Extent::kOne, kReadOnly, kPlaces));
  TRY(OwnedFd cover, OpenIn(places.get(), kCover));
  return Holds(std::move(places), std::move(cover));
}

Result<> Holds::Hold(int mount, const std::string& path) {
  TRY(const OwnedFd place, OpenIn(places_.get(), std::to_string(used_++).c_str()));
  TRY_VOID(SetAttributes(mount, Extent::kWhole, kReadOnly | kNoPrivileges | kNoDevices, path));
  TRY_VOID(Attach(mount, place.get(), path));
  TRY(const OwnedFd cover, CloneMount(cover_.get(), Extent::kOne, path));
  return Attach(cover.get(), mount, path);
}

}  // namespace holdfast::sandbox
