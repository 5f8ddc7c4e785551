// MountBuilder carries out the mounts of a plan by descriptor, in the mount namespace of the calling process. It opens
// the paths without following links, and compares each file with the one that was noted when the plan was made. Then it
// mounts what it has opened: no other process can put another file in its place in between.
//
// A plan that begins with a bind of `/` is built in place: the copy of the mounts that the new namespace has is the new
// root. A plan that begins with an empty root gets a tmpfs, and the old root is detached.
//
// What it does not stop: names that are changed outside after the mounts were made. A mount stays with its file then,
// as long as the file stays in the mount in which it lies; a file that is moved out of that loses its mount. The kernel
// does not lock the mounts against a process with CAP_SYS_ADMIN in the user namespace that owns them; the command has
// no capability and cannot get one.
#pragma once

#include <span>
#include <string>

#include "base/result.h"
#include "sandbox/jail/placeholders.h"
#include "sandbox/plan/mount_check.h"
#include "sandbox/plan/plan.h"

namespace holdfast::sandbox {

class MountBuilder {
 public:
  // `noted` tells which file each path of the plan must lead to. The paths of placeholders are not among them.
  MountBuilder(const NamespacePlan& plan, std::span<const MountCheck> noted) : plan_(plan), noted_(noted) {}

  // Makes all mounts but the covers of placeholders, for one command. The caller is pid 1 of its pid namespace. The
  // mount namespace must be new, and must belong to the user namespace of this process, in which its ids are mapped. If
  // `terminal` is the descriptor of a terminal, and not -1, it is shown as /dev/console.
  Result<> BuildAll(int terminal) const;

  // Makes the mounts that all commands under one plan can share, under the same conditions, except that the caller need
  // not be pid 1.
  Result<> BuildTemplate() const;

  // Makes the mounts that a command has for itself in a copy of the template: /proc of its pid namespace, /dev/shm,
  // /dev/pts and /dev/console. The caller is pid 1 of its pid namespace.
  Result<> BuildOwn(int terminal) const;

  // Covers the placeholders after BuildAll or BuildOwn. `used` are those that were made. At the path of every other
  // placeholder of the plan there is a file of the user by then, which is covered too. Fails if the directory of a
  // placeholder is not the one that was noted.
  Result<> Cover(std::span<const UsedPlaceholder> used) const;

 private:
  Result<> CheckDirectory(int directory, const std::string& placeholder) const;

  const NamespacePlan& plan_;
  std::span<const MountCheck> noted_;
};

}  // namespace holdfast::sandbox
