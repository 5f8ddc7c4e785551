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
#include <vector>

#include "sandbox/plan/mount.h"
#include "sandbox/plan/plan_options.h"
#include "sandbox/resolve/protected_names.h"
#include "sandbox/resolve/resolution.h"
#include "sys/file_identity.h"

namespace holdfast::sandbox {

// A placeholder for a mount point that does not exist. It is removed when the last sandbox that uses it has ended.
struct Placeholder {
  std::string path;
  PlaceholderKind kind = PlaceholderKind::kDirectory;

  void Fields(this auto& self, auto& f) { f(self.path, self.kind); }
};

enum class Filter {
  kOpenNetwork,        // refuses what no command needs, and sockets of unusual families
  kRestrictedNetwork,  // of sockets, only pairs of unix sockets can be used
  kProxyOnly,          // inet sockets, in a private network namespace; of unix sockets only pairs
  kGuardedNetwork,     // as kOpenNetwork, but refuses connections that Landlock's rules for ports do not see
  kProxyNoListening,   // as kProxyOnly, but no socket may listen
};
constexpr Filter LastOf(Filter) { return Filter::kProxyNoListening; }

// Landlock decides by file, not by path: its rules also hold for descriptors that are opened again, for renamed
// directories and for FIFOs.
struct LandlockRule {
  // kRead allows to read, list and execute; kWrite everything; kList only to list, for the directories of an EmptyRoot.
  enum class Rights { kRead, kWrite, kList };
  friend constexpr Rights LastOf(Rights) { return Rights::kList; }
  std::string path;  // inside of the sandbox, after the mounts
  Rights rights = Rights::kRead;
  std::optional<sys::FileIdentity> identity = {};  // the file that must be there; no link is followed then

  void Fields(this auto& self, auto& f) { f(self.path, self.rights, self.identity); }
  bool IsValid() const { return path.starts_with('/'); }
};

struct NamespacePlan {
  std::vector<Mount> mounts;
  std::vector<Placeholder> placeholders;
  std::vector<std::string> absent = {};  // paths that the caller must keep absent: MissingNames::kRefused
  bool own_network = true;               // the command gets an empty network namespace
  std::string working_directory;
  Filter filter = Filter::kRestrictedNetwork;
  std::vector<LandlockRule> landlock;  // empty: Landlock is not used

  void Fields(this auto& self, auto& f) {
    f(self.mounts, self.placeholders, self.absent, self.own_network, self.working_directory, self.filter,
      self.landlock);
  }
};

// Returns the plan as text, one line for each step.
std::string Text(const NamespacePlan& plan);

}  // namespace holdfast::sandbox
