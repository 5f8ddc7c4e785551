// Any user that executes the file could then send raw packets.
#include <linux/capability.h>
#include <sys/xattr.h>

#include "sandboxee.h"

int main(int, char** argv) {
  const vfs_cap_data capability = {VFS_CAP_REVISION_2 | VFS_CAP_FLAGS_EFFECTIVE, {{1u << CAP_NET_RAW, 0}, {0, 0}}};
  return Judge(::setxattr(Word(argv, 1), "security.capability", &capability, sizeof capability, 0));
}
