#include "support/small_tmpfs.h"

#include <sched.h>
#include <sys/mount.h>

#include <cerrno>

#include "base/result.h"

namespace holdfast::support {

const std::string& EnterPrivateMounts() {
  static const std::string why_not = []() -> std::string {
    if (::unshare(CLONE_NEWNS) < 0) return "no mount namespace: " + ErrnoText(errno);
    if (::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) < 0)
      return "no private mounts: " + ErrnoText(errno);
    return "";
  }();
  return why_not;
}

SmallTmpfs::SmallTmpfs(size_t bytes) : why_not_(EnterPrivateMounts()) {
  if (!why_not_.empty()) return;
  const std::string options = "mode=0777,size=" + std::to_string(bytes);
  if (::mount("tmpfs", path().c_str(), "tmpfs", MS_NOSUID | MS_NODEV, options.c_str()) < 0) {
    why_not_ = "no tmpfs: " + ErrnoText(errno);
  }
}

SmallTmpfs::~SmallTmpfs() {
  if (why_not_.empty()) ::umount2(path().c_str(), MNT_DETACH);
}

}  // namespace holdfast::support
