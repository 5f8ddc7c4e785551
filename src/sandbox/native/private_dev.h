// PrivateDevices is the /dev of a sandbox: a tmpfs with the usual nodes and links, a /dev/shm and a /dev/pts. The nodes
// are those of the host, mounted read-only: a device can be read and written on such a mount, but its mode, owner and
// times cannot be changed.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/owned_fd.h"
#include "base/result.h"

namespace holdfast::sandbox {

// Copies of the mounts of the host's nodes. They are taken before the root becomes read-only and without devices.
struct DeviceNodes {
  struct Node {
    std::string name;  // in /dev
    OwnedFd mount;
  };
  std::vector<Node> nodes;
  // Takes the nodes from the /dev below `root`. If `terminal` is the descriptor of a terminal there, it becomes
  // /dev/console, where `tty` finds it; -1 means that there is none.
  static Result<DeviceNodes> Take(int root, int terminal);
};

// Makes the file system and attaches it to `target`, the directory /dev. Returns its mount, which can still be changed.
Result<OwnedFd> AttachDev(int target, const DeviceNodes& nodes);

// Makes the mount read-only, but none of the mounts below it.
Result<> SealDev(int dev);

// These functions attach what each sandbox has for itself to a /dev, whose directory is `dev`, and return its mount.
Result<OwnedFd> AttachSharedMemory(int dev);
Result<OwnedFd> AttachTerminals(int dev);

// Returns a copy of the mount of the host's /dev/pts below `root`, and a closed descriptor where there is none.
Result<OwnedFd> TakeHostTerminals(int root);

// Attaches the host's terminals to the /dev of a template. Pid 1 of a command finds the terminal of the command there,
// before it attaches a /dev/pts of its own on top.
Result<> AttachHostTerminals(int dev, const OwnedFd& terminals);

}  // namespace holdfast::sandbox
