// Mount checks make sure that every mount of a plan is where it should be and shows what it should. bubblewrap mounts
// by name, and another process of the user, or another sandboxed command, may put a link in the place of a directory
// between the plan and the mount. The outer stage therefore notes what each name leads to before bubblewrap mounts it,
// and the inner stage looks again inside: if one mount is not in its place, the command is not started. Each name must
// lead to a mount of its own, because names that are swapped between two looks could otherwise hide a missing mount.
//
// What it does not stop: names that are changed after the check. A mount stays with its file then, as long as the file
// stays in the mount in which it lies.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "sandbox/plan/plan.h"
#include "sys/file_identity.h"

namespace holdfast::sandbox {

struct MountCheck {
  // A cover is read-only, and any file but the one outside. A kLink is a link, bound to itself; what is kHeld has no
  // mount of its own.
  enum class Kind { kWritable, kReadOnly, kCover, kLink, kHeld };
  friend constexpr Kind LastOf(Kind) { return Kind::kHeld; }

  std::string path;
  Kind kind = Kind::kCover;
  sys::FileIdentity outside = {};  // the file at the path without the mounts

  void Fields(this auto& self, auto& f) { f(self.path, self.kind, self.outside); }
  bool IsValid() const { return path.starts_with('/'); }

  friend bool operator==(const MountCheck&, const MountCheck&) = default;
};

// Notes the files outside that the plan mounts or covers. Placeholders are noted only if they have been made already.
// Fails when a path goes through a link.
enum class PlaceholderState { kMade, kMissing };
Result<std::vector<MountCheck>> NoteMounts(const NamespacePlan& plan, PlaceholderState placeholders);

// Notes in the Landlock rules for bound paths which file Landlock has to find there.
void NoteIdentities(std::span<const MountCheck> checks, std::vector<LandlockRule>& rules);

// Checks the mounts, inside the sandbox. Those of links are checked by CheckLinks, because they come last.
Result<> CheckMounts(std::span<const MountCheck> checks);
Result<> CheckLinks(std::span<const MountCheck> checks);

}  // namespace holdfast::sandbox
