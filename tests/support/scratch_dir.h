// A directory for one test. The destructor removes it with everything in it.
#pragma once

#include <sys/types.h>

#include <string>
#include <string_view>

namespace holdfast::support {

class ScratchDir {
 public:
  ScratchDir();
  explicit ScratchDir(const std::string& parent);
  ~ScratchDir();
  ScratchDir(const ScratchDir&) = delete;
  ScratchDir& operator=(const ScratchDir&) = delete;

  const std::string& path() const { return path_; }

  // Makes the file, and the directories above it that are missing. Returns its path.
  std::string Write(std::string_view name, std::string_view text, mode_t mode = 0644) const;

 private:
  std::string path_;
};

}  // namespace holdfast::support
