// The fs/* methods that take paths. Each checks its params on the loop and does its work on a worker; under a sandbox
// the worker has a file helper do it.
#pragma once

#include "exec_server/file_jobs.h"
#include "exec_server/runtime.h"
#include "exec_server/session.h"
#include "fs/cached_file.h"
#include "fs_helper/operations.h"
#include "rpc/reply.h"
#include "wire/field_types.h"
#include "wire/fs_messages.h"
#include "wire/fs_tree_messages.h"
#include "wire/sandbox_messages.h"

namespace holdfast::exec_server {

class FsService {
 public:
  FsService(Runtime& runtime, FileJobs& jobs) : runtime_(runtime), jobs_(jobs) {}

  void ReadFile(Session& session, const wire::Sandboxed<wire::FsFollowParams>& params,
                rpc::Reply<wire::FsReadFileResult> reply);
  void WriteFile(Session& session, const wire::Sandboxed<wire::FsWriteFileParams>& params,
                 rpc::Reply<wire::Empty> reply);
  void CreateDirectory(Session& session, const wire::Sandboxed<wire::FsCreateDirectoryParams>& params,
                       rpc::Reply<wire::Empty> reply);
  void GetMetadata(Session& session, const wire::Sandboxed<wire::FsFollowParams>& params,
                   rpc::Reply<wire::FsGetMetadataResult> reply);
  void Canonicalize(Session& session, const wire::Sandboxed<wire::FsPathParams>& params,
                    rpc::Reply<wire::FsCanonicalizeResult> reply);
  void ReadDirectory(Session& session, const wire::Sandboxed<wire::FsPathParams>& params,
                     rpc::Reply<wire::FsReadDirectoryResult> reply);
  void Remove(Session& session, const wire::Sandboxed<wire::FsRemoveParams>& params, rpc::Reply<wire::Empty> reply);
  void Copy(Session& session, const wire::Sandboxed<wire::FsCopyParams>& params, rpc::Reply<wire::Empty> reply);
  void Rename(Session& session, const wire::Sandboxed<wire::FsRenameParams>& params, rpc::Reply<wire::Empty> reply);
  void Walk(Session& session, const wire::Sandboxed<wire::FsWalkParams>& params, rpc::Reply<wire::FsWalkResult> reply);

 private:
  template <typename Params, typename T>
  void Operate(Session& session, const char* name, const wire::Sandboxed<Params>& params,
               Result<fs_helper::Operation<T>> (*prepare)(const Params&), rpc::Reply<T> reply);

  Runtime& runtime_;
  FileJobs& jobs_;
  fs::CachedFiles cached_files_;
};

}  // namespace holdfast::exec_server
