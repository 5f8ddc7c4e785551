// FileReader does the work of fs/readFile: it reads the file block by block and appends each block to the JSON of the
// answer, as base64.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <utility>

#include "base/result.h"
#include "files/disk/file.h"

namespace holdfast::exec_server {

class FileReader {
 public:
  using Opener = std::move_only_function<Result<files::File>()>;

  FileReader(Opener open, size_t max_bytes) : open_(std::move(open)), max_bytes_(max_bytes) {}

  // The memory that is enough for most answers: a file of 1 MiB in base64, and the beginning of the message.
  static constexpr size_t kUsualBytes = 1440u << 10;

  // This operator is a FileStep (file_requests.h). If the answer turns out to need more than `allowed` bytes, the next
  // call reads the file again from its beginning. A string that grew to the larger size would be in memory twice while
  // its text is moved.
  Result<size_t> operator()(std::string& json, size_t allowed);

 private:
  Result<size_t> Read(std::string& json, size_t allowed) const;
  size_t LongestAnswer() const;
  Error TooLarge() const;

  Opener open_;
  size_t max_bytes_;
  std::optional<files::File> file_;
  size_t head_bytes_ = 0;  // the length of the message before the result
};

}  // namespace holdfast::exec_server
