#include "sandbox/jail/group_limits.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <string_view>

namespace holdfast::sandbox {
namespace {

// Half of a user's default.
constexpr std::string_view kGroups = "64";
constexpr std::array kGroupLimits = {"/proc/sys/user/max_inotify_instances", "/proc/sys/user/max_fanotify_groups"};

}  // namespace

void LimitGroups() {
  for (const char* const limit : kGroupLimits) {
    const int file = ::open(limit, O_WRONLY | O_CLOEXEC);
    if (file < 0) continue;
    (void)!::write(file, kGroups.data(), kGroups.size());
    ::close(file);
  }
}

}  // namespace holdfast::sandbox
