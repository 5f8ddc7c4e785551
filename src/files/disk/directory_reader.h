// Reads the names in an open directory, in the order in which the kernel returns them, without "." and "..". A name
// that is made or removed meanwhile may be returned or not; each other name is returned once.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/owned_fd.h"
#include "base/result.h"

namespace holdfast::files {

struct RawEntry {
  std::string_view name;  // raw bytes, followed by a NUL; valid until the next call of Next()
  unsigned char type;     // DT_*; DT_UNKNOWN if the file system does not tell
};

class DirectoryReader {
 public:
  // `directory` must be open for reading, not O_PATH. `path` is used in messages.
  explicit DirectoryReader(OwnedFd directory, std::string path = "")
      : directory_(std::move(directory)), path_(std::move(path)) {}

  // Returns the next name, or nothing at the end.
  Result<std::optional<RawEntry>> Next();

  int fd() const { return directory_.get(); }

 private:
  Result<> Fill();

  OwnedFd directory_;
  std::string path_;
  std::unique_ptr<std::byte[]> buffer_;  // made by the first Next()
  size_t filled_ = 0, taken_ = 0;
};

}  // namespace holdfast::files
