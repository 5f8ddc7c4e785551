// A file system in user space whose server does not answer, as that of a dead machine on the network: whoever asks it
// waits. It is mounted where EnterPrivateMounts (small_tmpfs.h) leads.
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
    kOnClose,  // file() can be read and written, but whoever closes it waits
  };
  static constexpr std::string_view kContent = "what is in the file\n";

  explicit StuckMount(Silence silence);
  ~StuckMount();
  StuckMount(const StuckMount&) = delete;
  StuckMount& operator=(const StuckMount&) = delete;

  // Of a test that then skips itself; empty when all is well.
  const std::string& why_not() const { return why_not_; }
  const std::string& path() const { return mount_point_.path(); }
  std::string file() const { return path() + "/file"; }

  // Whoever waits is told of an error, and so is everybody who asks from here on.
  void Release();

 private:
  void Serve() const;

  ScratchDir mount_point_;
  std::string why_not_;
  OwnedFd server_;  // the kernel's questions come here
  std::thread thread_;
};

}  // namespace holdfast::support
