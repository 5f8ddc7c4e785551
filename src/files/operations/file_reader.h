// FileReader does the work of fs/readFile once the file is open: it reads the file block by block and appends each
// block to the JSON of the answer, as base64.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "base/result.h"
#include "files/disk/file.h"

namespace holdfast::files {

class FileReader {
 public:
  explicit FileReader(size_t max_bytes) : max_bytes_(max_bytes) {}

  // The memory that is enough for most answers: a file of 1 MiB in base64, and the beginning of the message.
  static constexpr size_t kUsualBytes = 1440u << 10;

  // Appends the JSON of the result to `json`, which may have at most `allowed` bytes. Returns zero when the answer is
  // complete. Otherwise it returns how many bytes the answer needs, and the next call, which may use them, reads the
  // file again from its beginning. A string that grew to the larger size would be in memory twice while its text is
  // moved.
  Result<size_t> operator()(const File& file, std::string& json, size_t allowed);

 private:
  Result<size_t> Read(const File& file, std::string& json, size_t allowed) const;
  size_t LongestAnswer() const;
  Error TooLarge(const File& file) const;

  size_t max_bytes_;
  std::optional<size_t> head_bytes_;  // the length of the message before the result; empty before the first call
};

}  // namespace holdfast::files
