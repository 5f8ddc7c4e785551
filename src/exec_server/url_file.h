// UrlFile is a file with the URL of the server, which may contain the secret that lets its reader run commands. Only
// the server's user can read it. Every sandbox of the server hides it (sandbox/helper_command/server_access.h).
#pragma once

#include <string>
#include <string_view>

#include "base/owned_fd.h"
#include "base/result.h"

namespace holdfast::exec_server {

class UrlFile {
 public:
  // Makes the file as a whole: a reader sees the URL, with a line end, or no file. A file of this user that is there
  // already is replaced, as a server that was killed leaves one behind; nothing else is. Fails if other users could
  // replace the file, because clients would then talk to a server of theirs. The directories above that of the file are
  // not looked at.
  static Result<UrlFile> Create(const std::string& path, std::string_view url);

  // Removes the file, unless another one has taken its place.
  ~UrlFile();
  UrlFile(UrlFile&&) = default;
  UrlFile& operator=(UrlFile&&) = delete;

  const std::string& path() const { return path_; }

 private:
  UrlFile(std::string path, OwnedFd directory, OwnedFd file)
      : path_(std::move(path)), directory_(std::move(directory)), file_(std::move(file)) {}

  std::string path_;
  OwnedFd directory_;
  OwnedFd file_;  // open, so that no other file gets its inode number
};

}  // namespace holdfast::exec_server
