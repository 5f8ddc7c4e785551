// A small tmpfs is a file system with little room, for tests of what happens when there is no room left. It is mounted
// in a mount namespace that the test process makes for itself. So nothing stays behind, however the test ends; threads
// and processes that existed before do not see it.
#pragma once

#include <cstddef>
#include <string>

#include "support/scratch_dir.h"

namespace holdfast::support {

// Makes the mount namespace, once for the process. Returns an empty text, or the reason why it cannot be made, also
// when it is called again. It needs root with CAP_SYS_ADMIN.
const std::string& EnterPrivateMounts();

class SmallTmpfs {
 public:
  explicit SmallTmpfs(size_t bytes);
  ~SmallTmpfs();
  SmallTmpfs(const SmallTmpfs&) = delete;
  SmallTmpfs& operator=(const SmallTmpfs&) = delete;

  // The reason why the file system could not be made, with which a test skips itself; empty if it was made.
  const std::string& why_not() const { return why_not_; }
  const std::string& path() const { return mount_point_.path(); }

 private:
  ScratchDir mount_point_;
  std::string why_not_;
};

}  // namespace holdfast::support
