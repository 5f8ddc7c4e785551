// How a resolution is enforced, as a value: mounts in their order, namespaces, the system call filter, Landlock rules.
// A backend (bubblewrap, or one of our own) carries it out; Text() is for people and for tests.
//
// What it does not stop: other names (hard links) of a file that may be read or written; what appears after the start
// and matches a pattern; anything done through a descriptor that is passed in on purpose. Directories that are mount
// points of their own cost something: a file cannot be renamed or linked from one to the other (EXDEV, mv copies).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "sandbox/plan/plan_options.h"
#include "sandbox/resolve/protected_names.h"
#include "sandbox/resolve/resolution.h"
#include "sys/file_identity.h"

namespace holdfast::sandbox {

// In the order they are made: a later one lies on top of an earlier one. Paths are the same outside and inside, and no
// component of one was a link when the plan was made: a backend that meets one there must refuse. What a bind shows is
// what the path has outside, with the mounts below it, not what earlier steps put there. In an EmptyRoot, PrivateDev
// and EmptyDirectory the backend makes the mount points, and in the first two also what is missing on the way to them.

// What is there, read-only.
struct ReadOnlyBind {
  std::string path;
};
// What is there. Devices work at and below /dev, and nowhere else.
struct WritableBind {
  std::string path;
};
// A file or directory in a writable place, bound to itself as it is: a mount point cannot be renamed or removed.
struct Busy {
  std::string path;
};
// A tmpfs instead of /; it has a Seal.
struct EmptyRoot {};
// A tmpfs over a directory; it has a Seal.
struct EmptyDirectory {
  std::string path;
  uint32_t mode;
};
// Over a file of any kind; read-only.
struct EmptyFile {
  std::string path;
  uint32_t mode;
};
// On the way down through an EmptyDirectory. Its mode is 0111: to be passed, not listed.
struct MakeDirectory {
  std::string path;
};
// In an EmptyRoot or EmptyDirectory, where a link of this text is outside.
struct Symlink {
  std::string path, target;
};
// Makes the tmpfs at this path read-only; not what is mounted below.
struct Seal {
  std::string path;
};
// /dev with its usual nodes, and a /dev/shm of its own.
struct PrivateDev {};
// /proc of the new pid namespace, read-only; or only its knobs, which change the machine.
struct FreshProc {
  bool only_knobs = false;
};

using Mount = std::variant<ReadOnlyBind, WritableBind, Busy, EmptyRoot, EmptyDirectory, EmptyFile, MakeDirectory,
                           Symlink, Seal, PrivateDev, FreshProc>;

// A mount point that does not exist: made before the mounts, and removed when the last who uses it has ended.
struct Placeholder {
  std::string path;
  PlaceholderKind kind = PlaceholderKind::kDirectory;
};

enum class Filter {
  kOpenNetwork,        // what no command needs, and nothing about sockets but odd families
  kRestrictedNetwork,  // only unix socket pairs
  kProxyOnly,          // inet in the private namespace, no unix sockets
  kGuardedNetwork,     // the open network, but no connection that Landlock's rules about ports do not see
  kProxyNoListening,   // as kProxyOnly, and no socket accepts connections
};

// Landlock lies below the mounts: it also holds for descriptors that are opened again, for renamed directories, FIFOs.
struct LandlockRule {
  // kRead: read, list, execute. kWrite: everything. kList: list, for the directories of an EmptyRoot.
  enum class Rights { kRead, kWrite, kList };
  std::string path;  // as it is inside, after the mounts
  Rights rights = Rights::kRead;
  std::optional<sys::FileIdentity> identity = {};  // of what must be there; no link is followed then
};

struct Plan {
  std::vector<Mount> mounts;  // empty only where there are no namespaces: landlock_plan.h
  std::vector<Placeholder> placeholders;
  std::vector<std::string> absent = {};  // what MissingNames::kRefused leaves to the caller
  bool own_network = true;               // an empty network namespace
  std::string working_directory;
  Filter filter = Filter::kRestrictedNetwork;
  std::vector<LandlockRule> landlock;  // empty: none
};

// One line per step.
std::string Text(const Plan& plan);

// The same for one of landlock_plan.h.
std::string LandlockText(const Plan& plan);

}  // namespace holdfast::sandbox
