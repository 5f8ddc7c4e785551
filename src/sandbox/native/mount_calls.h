// The calls of the kernel that make mounts by descriptor. The error of each call names the call and the path; the paths
// here are only for these messages, apart from the one that Look takes.
#pragma once

#include <sys/mount.h>

#include <cstdint>
#include <initializer_list>
#include <string>
#include <utility>

#include "base/owned_fd.h"
#include "base/result.h"
#include "sandbox/native/call_result.h"

namespace holdfast::sandbox {

// Every mount inside has these attributes, but devices work where kNoDevices is left out.
inline constexpr uint64_t kNoPrivileges = MOUNT_ATTR_NOSUID;
inline constexpr uint64_t kNoDevices = MOUNT_ATTR_NODEV;
inline constexpr uint64_t kReadOnly = MOUNT_ATTR_RDONLY;
inline constexpr uint64_t kNoPrograms = MOUNT_ATTR_NOEXEC;

// kWhole means a mount with all mounts below it.
enum class Extent { kOne, kWhole };

// Opens an absolute path below the root directory `root`. Fails if any component is a link, the last one included.
// TryLook returns a descriptor or -errno.
int TryLook(int root, const std::string& path);
Result<OwnedFd> Look(int root, const std::string& path);

// Does the same as TryLook, but opens a link at the end of the path itself.
int TryLookAtLink(int root, const std::string& path);

// Returns a copy of the mount that `fd` is in, beginning at the file that `fd` is. It is attached nowhere yet.
CallResult<OwnedFd> CloneMount(int fd, Extent extent, const std::string& path);

// Returns the mount of a new file system, which is attached nowhere yet.
CallResult<OwnedFd> NewFileSystem(const char* type, std::initializer_list<std::pair<const char*, std::string>> options,
                                  uint64_t attributes);
CallResult<OwnedFd> NewTmpfs(uint32_t mode);

// Adds attributes to a mount, and cuts it off from mounts and unmounts in other namespaces.
CallResult<> SetAttributes(int mount, Extent extent, uint64_t attributes, const std::string& path);

// Puts a mount on top of the file or directory `target`.
CallResult<> Attach(int mount, int target, const std::string& path);

}  // namespace holdfast::sandbox
