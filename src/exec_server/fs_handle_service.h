// The fs/* methods on open files: a file of any size goes through them in blocks.
#pragma once

#include "exec_server/file_jobs.h"
#include "exec_server/runtime.h"
#include "exec_server/session.h"
#include "rpc/reply.h"
#include "wire/field_types.h"
#include "wire/fs_handle_messages.h"
#include "wire/sandbox_messages.h"

namespace holdfast::exec_server {

class FsHandleService {
 public:
  FsHandleService(Runtime& runtime, FileJobs& jobs) : runtime_(runtime), jobs_(jobs) {}

  void Open(Session& session, const wire::Sandboxed<wire::FsOpenParams>& params, rpc::Reply<wire::FsHandle> reply);
  void ReadBlock(Session& session, const wire::FsReadBlockParams& params, rpc::Reply<wire::FsReadBlockResult> reply);
  void WriteBlock(Session& session, const wire::FsWriteBlockParams& params, rpc::Reply<wire::Empty> reply);
  void Close(Session& session, const wire::FsHandle& params, rpc::Reply<wire::Empty> reply);

 private:
  Runtime& runtime_;
  FileJobs& jobs_;
};

}  // namespace holdfast::exec_server
