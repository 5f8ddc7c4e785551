// A plan describes how a resolution is enforced: mounts in their order, namespaces, the system call filter, Landlock
// rules. It is a plain value, which a backend such as bubblewrap carries out. Text() shows it to people and to tests.
//
// What it does not stop: access through another name (hard link) of a file that may be read or written; access to files
// that match a pattern but are created after the start; anything done through a descriptor that is passed in on
// purpose. Mounts have a cost: a file cannot be renamed or linked from one to another (EXDEV, mv copies it instead).
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

// The steps of a plan are carried out in their order, and a later mount lies on top of an earlier one. Paths are the
// same outside and inside. No component of a path was a link when the plan was made; a backend that meets a link must
// refuse. A bind shows what is at the path outside, with the mounts below it, not what earlier steps put there. In an
// EmptyRoot, PrivateDev and EmptyDirectory the backend makes the mount points, and in the first two also the
// missing directories above them.

// The file or directory that is at the path outside, read-only.
struct ReadOnlyBind {
  std::string path;
};
// The file or directory that is at the path outside, writable. Devices work only at and below /dev.
struct WritableBind {
  std::string path;
};
// A file or directory in a writable place, bound to itself: a mount point cannot be renamed or removed.
struct PinnedBind {
  std::string path;
};
// A link in a writable place, bound to itself.
struct PinnedLink {
  std::string path;
};
// A directory that cannot be moved or removed either, but is no mount at its path. It needs a PrivateDev before it.
struct HeldDirectory {
  std::string path;
};
// A tmpfs instead of /. A later Seal makes it read-only.
struct EmptyRoot {};
// A tmpfs over a directory. A later Seal makes it read-only.
struct EmptyDirectory {
  std::string path;
  uint32_t mode;
};
// An empty read-only file over a file of any kind.
struct EmptyFile {
  std::string path;
  uint32_t mode;
};
// A directory in an EmptyDirectory, on the way to a deeper mount. Its mode 0111 lets it be passed, but not listed.
struct MakeDirectory {
  std::string path;
};
// A link in an EmptyRoot or EmptyDirectory. A link with the same text is at this path outside.
struct Symlink {
  std::string path, target;
};
// Makes the tmpfs at this path read-only, but not the mounts below it.
struct Seal {
  std::string path;
};
// A /dev with the usual nodes, and a /dev/shm that only this sandbox has.
struct PrivateDev {};
// The /proc of the new pid namespace. All of it is read-only; with only_knobs only its knobs are, the files that
// change settings of the machine.
struct FreshProc {
  bool only_knobs = false;
};

using Mount = std::variant<ReadOnlyBind, WritableBind, PinnedBind, PinnedLink, HeldDirectory, EmptyRoot, EmptyDirectory,
                           EmptyFile, MakeDirectory, Symlink, Seal, PrivateDev, FreshProc>;

// A placeholder for a mount point that does not exist. It is removed when the last sandbox that uses it has ended.
struct Placeholder {
  std::string path;
  PlaceholderKind kind = PlaceholderKind::kDirectory;
};

enum class Filter {
  kOpenNetwork,        // refuses what no command needs, and sockets of unusual families
  kRestrictedNetwork,  // of sockets, only pairs of unix sockets can be used
  kProxyOnly,          // inet sockets, in a private network namespace; of unix sockets only pairs
  kGuardedNetwork,     // as kOpenNetwork, but refuses connections that Landlock's rules for ports do not see
  kProxyNoListening,   // as kProxyOnly, but no socket may listen
};

// Landlock decides by file, not by path: its rules also hold for descriptors that are opened again, for renamed
// directories and for FIFOs.
struct LandlockRule {
  // kRead allows to read, list and execute; kWrite everything; kList only to list, for the directories of an EmptyRoot.
  enum class Rights { kRead, kWrite, kList };
  std::string path;  // inside of the sandbox, after the mounts
  Rights rights = Rights::kRead;
  std::optional<sys::FileIdentity> identity = {};  // the file that must be there; no link is followed then
};

struct NamespacePlan {
  std::vector<Mount> mounts;
  std::vector<Placeholder> placeholders;
  std::vector<std::string> absent = {};  // paths that the caller must keep absent: MissingNames::kRefused
  bool own_network = true;               // the command gets an empty network namespace
  std::string working_directory;
  Filter filter = Filter::kRestrictedNetwork;
  std::vector<LandlockRule> landlock;  // empty: Landlock is not used
};

// Returns the plan as text, one line for each step.
std::string Text(const NamespacePlan& plan);

}  // namespace holdfast::sandbox
