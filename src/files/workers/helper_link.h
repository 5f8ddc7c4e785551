// A HelperLink is the server's end of the channel to a file helper. Its calls block, so workers make them, one at a
// time.
#pragma once

#include <atomic>
#include <string>
#include <string_view>

#include "base/owned_fd.h"
#include "base/result.h"
#include "files/disk/file.h"
#include "files/helper/channel.h"
#include "wire/fs_handle_messages.h"

namespace holdfast::files {

class HelperLink {
 public:
  explicit HelperLink(OwnedFd socket);

  // Has the file helper do the operation, and appends the JSON of its response to `json`.
  Result<> Call(std::string_view operation, std::string_view params_json, std::string& json);
  Result<File> Open(const wire::FsOpenFileParams& params);

  // Returns whether the file helper must not be used again: it has ended, has sent an answer that cannot be understood,
  // or is stale.
  bool broken() const { return broken_; }

  // Returns whether the file helper is stale: since its sandbox was planned, a protected path has appeared or has lost
  // its mount. The last call has to be made to another file helper.
  bool stale() const { return stale_; }

  // Returns whether the file helper is alive and has sent nothing, as it should be between two calls.
  bool IsQuiet() const;

 private:
  Result<std::string_view> Response(std::string_view operation, const Channel::Line& line);
  std::unexpected<Error> Broken(std::string message);
  Result<Channel::Line> Exchange(std::string_view operation, std::string_view params_json);

  OwnedFd socket_;
  Channel channel_;
  std::atomic<bool> broken_ = false;
  bool stale_ = false;
};

}  // namespace holdfast::files
