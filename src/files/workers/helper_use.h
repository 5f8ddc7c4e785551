// A HelperUse is a file helper that is leased for one attempt to serve a request. A worker calls the file helper once,
// and the lease ends with that call.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"
#include "files/disk/file.h"
#include "files/workers/file_helpers.h"
#include "wire/fs_handle_messages.h"

namespace holdfast::files {

class HelperUse {
 public:
  explicit HelperUse(FileHelpers::Lease lease) : lease_(std::move(lease)) {}

  // Has the file helper do the operation, and appends the JSON of its response to `json`.
  Result<> Call(std::string_view operation, std::string_view params_json, std::string& json);
  Result<File> Open(const wire::FsOpenFileParams& params);

  // Returns whether the file helper refused the call because a protected path has changed since its start. The request
  // then needs another file helper.
  bool is_stale() const { return is_stale_; }

 private:
  template <typename T>
  Result<T> EndLeaseAfter(Result<T> outcome);

  std::optional<FileHelpers::Lease> lease_;
  bool is_stale_ = false;
};

}  // namespace holdfast::files
