// The mounts of a plan (plan.h), which are its steps.
#pragma once

#include <cstdint>
#include <string>
#include <variant>

namespace holdfast::sandbox {

// The steps of a plan are carried out in their order, and a later mount lies on top of an earlier one. Paths are the
// same outside and inside. No component of a path was a link when the plan was made; a backend that meets a link must
// refuse. A bind shows what is at the path outside, with the mounts below it, not what earlier steps put there. In an
// EmptyRoot, PrivateDev and EmptyDirectory the backend makes the mount points, and in the first two also the
// missing directories above them.

// The file or directory that is at the path outside, read-only.
struct ReadOnlyBind {
  std::string path;
  void Fields(this auto& self, auto& f) { f(self.path); }
};
// The file or directory that is at the path outside, writable. Devices work only at and below /dev.
struct WritableBind {
  std::string path;
  void Fields(this auto& self, auto& f) { f(self.path); }
};
// A file or directory in a writable place, bound to itself: a mount point cannot be renamed or removed.
struct PinnedBind {
  std::string path;
  void Fields(this auto& self, auto& f) { f(self.path); }
};
// A link in a writable place, bound to itself.
struct PinnedLink {
  std::string path;
  void Fields(this auto& self, auto& f) { f(self.path); }
};
// A directory that cannot be moved or removed either, but is no mount at its path. It needs a PrivateDev before it.
struct HeldDirectory {
  std::string path;
  void Fields(this auto& self, auto& f) { f(self.path); }
};
// A tmpfs instead of /. A later Seal makes it read-only.
struct EmptyRoot {};
// A tmpfs over a directory. A later Seal makes it read-only.
struct EmptyDirectory {
  std::string path;
  uint32_t mode;
  void Fields(this auto& self, auto& f) { f(self.path, self.mode); }
};
// An empty read-only file over a file of any kind.
struct EmptyFile {
  std::string path;
  uint32_t mode;
  void Fields(this auto& self, auto& f) { f(self.path, self.mode); }
};
// A directory in an EmptyDirectory, on the way to a deeper mount. Its mode 0111 lets it be passed, but not listed.
struct MakeDirectory {
  std::string path;
  void Fields(this auto& self, auto& f) { f(self.path); }
};
// A link in an EmptyRoot or EmptyDirectory. A link with the same text is at this path outside.
struct Symlink {
  std::string path, target;
  void Fields(this auto& self, auto& f) { f(self.path, self.target); }
};
// Makes the tmpfs at this path read-only, but not the mounts below it.
struct Seal {
  std::string path;
  void Fields(this auto& self, auto& f) { f(self.path); }
};
// A /dev with the usual nodes, and a /dev/shm that only this sandbox has.
struct PrivateDev {};
// The /proc of the new pid namespace. All of it is read-only; with only_knobs only its knobs are, the files that
// change settings of the machine.
struct FreshProc {
  bool only_knobs = false;
  void Fields(this auto& self, auto& f) { f(self.only_knobs); }
};

using Mount = std::variant<ReadOnlyBind, WritableBind, PinnedBind, PinnedLink, HeldDirectory, EmptyRoot, EmptyDirectory,
                           EmptyFile, MakeDirectory, Symlink, Seal, PrivateDev, FreshProc>;

}  // namespace holdfast::sandbox
