// The service behind the fs/* methods on open files, by which a client reads and writes files of any size in blocks.
#pragma once

#include <string>
#include <utility>

#include "exec_server/files/file_attachment.h"
#include "exec_server/files/file_requests.h"
#include "rpc/reply.h"
#include "wire/field_types.h"
#include "wire/fs_handle_messages.h"
#include "wire/sandbox_messages.h"

namespace holdfast::exec_server {

class FsHandleService {
 public:
  // `server_cwd` is the base of a sandbox whose request names no directory.
  FsHandleService(FileRequests& requests, std::string server_cwd)
      : requests_(requests), server_cwd_(std::move(server_cwd)) {}

  void Open(FileAttachment& attachment, const wire::Sandboxed<wire::FsOpenParams>& params,
            rpc::Reply<wire::FsHandle> reply);
  void ReadBlock(FileAttachment& attachment, const wire::FsReadBlockParams& params,
                 rpc::Reply<wire::FsReadBlockResult> reply);
  void WriteBlock(FileAttachment& attachment, const wire::FsWriteBlockParams& params, rpc::Reply<wire::Empty> reply);
  void Close(FileAttachment& attachment, const wire::FsHandle& params, rpc::Reply<wire::Empty> reply);

 private:
  FileRequests& requests_;
  const std::string server_cwd_;
};

}  // namespace holdfast::exec_server
