// The work of fs/readFile: the file goes block by block into the JSON of the answer, as base64.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <utility>

#include "base/result.h"
#include "fs/file.h"

namespace holdfast::exec_server {

class FileReader {
 public:
  using Opener = std::move_only_function<Result<fs::File>()>;

  FileReader(Opener open, size_t max_bytes) : open_(std::move(open)), max_bytes_(max_bytes) {}

  // A step of FileJobs. A large file is opened by the first call and read by the second.
  Result<size_t> operator()(std::string& json);

 private:
  Result<> Read(std::string& json) const;
  Error TooLarge() const;

  Opener open_;
  size_t max_bytes_;
  std::optional<fs::File> file_;
};

}  // namespace holdfast::exec_server
