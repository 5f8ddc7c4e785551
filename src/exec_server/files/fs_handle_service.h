// The fs/* methods on open files: a file of any size goes through them in blocks.
#pragma once

#include <string>
#include <utility>

#include "exec_server/files/file_jobs.h"
#include "exec_server/files/file_session.h"
#include "files/workers/file_helpers.h"
#include "rpc/reply.h"
#include "wire/field_types.h"
#include "wire/fs_handle_messages.h"
#include "wire/sandbox_messages.h"

namespace holdfast::exec_server {

class FsHandleService {
 public:
  // `server_cwd` is the base of a sandbox whose request names no directory.
  FsHandleService(FileJobs& jobs, files::FileHelpers& helpers, std::string server_cwd)
      : jobs_(jobs), helpers_(helpers), server_cwd_(std::move(server_cwd)) {}

  void Open(FileSession& session, const wire::Sandboxed<wire::FsOpenParams>& params, rpc::Reply<wire::FsHandle> reply);
  void ReadBlock(FileSession& session, const wire::FsReadBlockParams& params,
                 rpc::Reply<wire::FsReadBlockResult> reply);
  void WriteBlock(FileSession& session, const wire::FsWriteBlockParams& params, rpc::Reply<wire::Empty> reply);
  void Close(FileSession& session, const wire::FsHandle& params, rpc::Reply<wire::Empty> reply);

 private:
  FileJobs& jobs_;
  files::FileHelpers& helpers_;
  const std::string server_cwd_;
};

}  // namespace holdfast::exec_server
