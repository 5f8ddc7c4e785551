// A file system with little room, for tests of what happens when there is none left. It is mounted in a mount namespace
// that the test process makes for itself, so that nothing stays behind, however the test ends; threads and processes
// that were there before do not see it.
#pragma once

#include <cstddef>
#include <string>

#include "support/scratch_dir.h"

namespace holdfast::support {

// Once for the process; later calls tell the same. Empty, or why there is none: it takes root with CAP_SYS_ADMIN.
const std::string& EnterPrivateMounts();

class SmallTmpfs {
 public:
  explicit SmallTmpfs(size_t bytes);
  ~SmallTmpfs();
  SmallTmpfs(const SmallTmpfs&) = delete;
  SmallTmpfs& operator=(const SmallTmpfs&) = delete;

  // Of a test that then skips itself; empty when all is well.
  const std::string& why_not() const { return why_not_; }
  const std::string& path() const { return mount_point_.path(); }

 private:
  ScratchDir mount_point_;
  std::string why_not_;
};

}  // namespace holdfast::support
