// A JailPlan is all that a jail (native/jail_process.h) is given about its sandboxes. It is made once, by the process
// that starts commands, and travels as a record (base/record.h). Its bytes are its name: a jail that was given the same
// bytes makes the same sandboxes.
//
// What it does not stop: a change between the plan and the start. The mounts of a jail stay with the files that the
// jail has found, which must be those that are noted, and a path that is mounted later is compared with `noted` once
// more.
#pragma once

#include <string_view>
#include <vector>

#include "sandbox/plan/mount_check.h"
#include "sandbox/plan/plan.h"

namespace holdfast::sandbox {

// The parts of its sandboxes that a jail makes once for all of its commands.
enum class Sharing {
  kTemplate,     // the mounts, in a user namespace
  kEachCommand,  // nothing, because the plan mounts what each command has for itself
};
constexpr Sharing LastOf(Sharing) { return Sharing::kEachCommand; }

struct JailPlan {
  NamespacePlan mounts;           // without a working directory, which each command has for itself
  std::vector<MountCheck> noted;  // the files that the plan mounts or covers, without the placeholders
  Sharing sharing = Sharing::kTemplate;

  static constexpr std::string_view kRecord = "jail 1\n";
  void Fields(this auto& self, auto& f) { f(self.mounts, self.noted, self.sharing); }
};

}  // namespace holdfast::sandbox
