// Whether the mounts of a plan are what and where they should be. bubblewrap goes by names, and another process of the
// user, or another sandboxed command, may put a link in the place of a directory between the plan and the mount. What
// each name leads to is noted before bubblewrap starts, and looked at again inside: every mount is in its place or the
// command is not started. No two looks may see the same mount: names that change places in between would hide another.
//
// What it does not stop: names that are changed afterwards. A mount stays with its file then.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "sandbox/plan/plan.h"
#include "sys/file_identity.h"

namespace holdfast::sandbox {

struct MountCheck {
  enum class Kind { kWritable, kReadOnly, kCover };  // a cover is anything but the file itself, and read-only
  std::string path;
  Kind kind = Kind::kCover;
  sys::FileIdentity outside = {};  // what is there without the mounts

  friend bool operator==(const MountCheck&, const MountCheck&) = default;
};

// Outside, when the placeholders are made. Fails when a path goes through a link.
Result<std::vector<MountCheck>> NoteMounts(const Plan& plan);

// Notes in the rules for paths that are bound what Landlock is to find there.
void NoteIdentities(std::span<const MountCheck> checks, std::vector<LandlockRule>& rules);

// Inside.
Result<> CheckMounts(std::span<const MountCheck> checks);

}  // namespace holdfast::sandbox
