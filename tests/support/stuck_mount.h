// A stuck mount is a file system in user space whose server does not answer, like that of a dead machine on the
// network. A process that uses it waits. It is mounted in the mount namespace of EnterPrivateMounts (small_tmpfs.h).
#pragma once

#include <string>
#include <string_view>
#include <thread>

#include "base/owned_fd.h"
#include "support/scratch_dir.h"

namespace holdfast::support {

class StuckMount {
 public:
  enum class Silence {
    kAlways,   // nothing is ever answered
    kOnClose,  // file() can be read and written, but closing it waits
  };
  static constexpr std::string_view kContent = "what is in the file\n";

  explicit StuckMount(Silence silence);
  ~StuckMount();
  StuckMount(const StuckMount&) = delete;
  StuckMount& operator=(const StuckMount&) = delete;

  // The reason why the mount could not be made, with which a test skips itself; empty if it was made.
  const std::string& why_not() const { return why_not_; }
  const std::string& path() const { return mount_point_.path(); }
  std::string file() const { return path() + "/file"; }

  // Every call that waits, and every later one, fails.
  void Release();

 private:
  void Serve() const;

  ScratchDir mount_point_;
  std::string why_not_;
  OwnedFd server_;  // the requests of the kernel come here
  std::thread thread_;
};

}  // namespace holdfast::support
