// The server's end of a file helper's channel. Its calls block, so workers make them, one at a time.
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

  // Appends the JSON of the response.
  Result<> Call(std::string_view operation, std::string_view params_json, std::string& json);
  Result<File> Open(const wire::FsOpenFileParams& params);

  // The helper is gone, said what makes no sense, or is stale: not to be used again.
  bool broken() const { return broken_; }

  // The helper was started for another state of the protected paths: one of them has appeared, or has lost its mount.
  // What was asked for last has to be asked of another helper.
  bool stale() const { return stale_; }

  // Between two calls: the helper is there and says nothing, as it should.
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
