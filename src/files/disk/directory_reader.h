// The names in an open directory, as the kernel gives them: in no order, without "." and "..". Names that come or go
// meanwhile may be given or not; each of the others is given once.
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
  std::string_view name;  // raw bytes; a NUL follows them; good until the next Next()
  unsigned char type;     // DT_*; DT_UNKNOWN where the file system does not say
};

class DirectoryReader {
 public:
  // Takes a directory that is open for reading, not O_PATH. `path` is for messages.
  explicit DirectoryReader(OwnedFd directory, std::string path = "")
      : directory_(std::move(directory)), path_(std::move(path)) {}

  // Absent at the end.
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
