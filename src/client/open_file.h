// A file that is open on the server. The handle belongs to one connection, and it is closed when this object is
// destroyed.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "base/result.h"
#include "client/connection.h"
#include "client/remote_file.h"
#include "client/session.h"
#include "loop/task.h"
#include "wire/fs_handle_messages.h"

namespace holdfast::client {

// The members are those of wire::FsOpenFileParams.
struct Opening {
  wire::FsOpenMode mode = wire::FsOpenMode::kRead;
  std::optional<uint64_t> size = {};
  FileAttributes attributes = {};
};

class OpenFile {
 public:
  static loop::Task<Result<std::unique_ptr<OpenFile>>> Open(RemoteFile file, Opening opening,
                                                            std::shared_ptr<Connection> connection);
  OpenFile(std::shared_ptr<Session> session, std::shared_ptr<Connection> connection, std::string handle_id);
  ~OpenFile();
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;

  loop::Task<Result<wire::FsReadBlockResult>> Read(uint64_t offset, uint64_t bytes);
  loop::Task<Result<wire::Empty>> Write(uint64_t offset, std::string bytes);
  loop::Task<Result<wire::Empty>> Close();  // what was written is in the file

 private:
  const std::shared_ptr<Session> session_;
  const std::shared_ptr<Connection> connection_;
  const std::string handle_id_;
  bool closed_ = false;
};

}  // namespace holdfast::client
