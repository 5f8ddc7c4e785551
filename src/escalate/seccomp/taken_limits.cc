#include "escalate/seccomp/taken_limits.h"

namespace holdfast::escalate {

std::vector<rlimit> TakeLimits(pid_t process) {
  std::vector<rlimit> limits(RLIM_NLIMITS);
  for (int resource = 0; resource < RLIM_NLIMITS; ++resource) {
    if (::prlimit(process, static_cast<__rlimit_resource>(resource), nullptr, &limits[resource]) != 0) return {};
  }
  return limits;
}

}  // namespace holdfast::escalate
