#include "sandbox/plan/jail_plan.h"

#include <algorithm>
#include <variant>

#include "base/paths.h"

namespace holdfast::sandbox {

bool FitsTemplate(const NamespacePlan& plan) {
  return std::ranges::none_of(plan.mounts, [](const Mount& mount) {
    return std::visit(
        [](const auto& step) {
          if constexpr (requires { step.path; }) {
            return IsAtOrBelow(step.path, "/proc") || IsAtOrBelow(step.path, "/dev/shm") ||
                   IsAtOrBelow(step.path, "/dev/pts");
          }
          return false;
        },
        mount);
  });
}

}  // namespace holdfast::sandbox
