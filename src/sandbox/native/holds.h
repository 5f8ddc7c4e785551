// Holds keeps directories where they are: the command can neither rename nor remove them, by whatever path it gets
// there. The kernel refuses both for a directory on which something is mounted in the mount namespace of the caller. So
// a copy of each directory is mounted in a hidden file system, and a cover lies on the copy. At their own paths the
// directories are no mounts, so that files can be renamed and linked across them.
//
// A process in another mount namespace can still remove a held directory. The kernel then detaches what is mounted on
// it, with everything below that, in all namespaces. Each copy therefore has a place and a cover of its own, and
// nothing else is mounted on it.
//
// What it does not stop: processes in other mount namespaces that rename or remove the directories.
#pragma once

#include <cstddef>
#include <string>
#include <utility>

#include "base/owned_fd.h"
#include "base/result.h"

namespace holdfast::sandbox {

class Holds {
 public:
  // Makes the hidden file system with places for `count` directories, and attaches it to the directory `target`. The
  // caller has to mount another file system on top, at the same path, to hide it from the command.
  static Result<Holds> Make(int target, size_t count);

  // Holds the directory that `mount` begins with. The mount must be attached nowhere yet. `path` is for messages.
  Result<> Hold(int mount, const std::string& path);

 private:
  Holds(OwnedFd places, OwnedFd cover) : places_(std::move(places)), cover_(std::move(cover)) {}

  OwnedFd places_;  // the root of the hidden file system
  OwnedFd cover_;   // an empty directory in it, whose copies are the covers
  size_t used_ = 0;
};

}  // namespace holdfast::sandbox
