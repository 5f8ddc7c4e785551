// The work of fs/readFile: the file goes block by block into the JSON of the answer, as base64.
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

  // Most answers need no more.
  static constexpr size_t kUsualBytes = 1440u << 10;  // a file of 1 MiB in base64, and a head

  // A step of a file request. A file that turns out to need more room than it may have is read again from its beginning
  // once it has it, rather than kept twice while its text moves.
  Result<size_t> operator()(std::string& json, size_t allowed);

 private:
  Result<size_t> Read(std::string& json, size_t allowed) const;
  size_t LongestAnswer() const;
  Error TooLarge() const;

  Opener open_;
  size_t max_bytes_;
  std::optional<files::File> file_;
  size_t head_bytes_ = 0;  // of the answer, before the result
};

}  // namespace holdfast::exec_server
