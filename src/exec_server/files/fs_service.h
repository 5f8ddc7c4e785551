// The fs/* methods that take paths. Each checks its params on the loop and does its work on a worker; under a sandbox
// the worker has a file helper do it.
#pragma once

#include <cstddef>
#include <string>
#include <utility>

#include "exec_server/files/file_jobs.h"
#include "exec_server/files/file_session.h"
#include "files/disk/cached_file.h"
#include "files/operations/operations.h"
#include "files/workers/file_helpers.h"
#include "rpc/reply.h"
#include "wire/field_types.h"
#include "wire/fs_messages.h"
#include "wire/fs_tree_messages.h"
#include "wire/sandbox_messages.h"

namespace holdfast::exec_server {

class FsService {
 public:
  // `server_cwd` is the base of a sandbox whose request names no directory.
  FsService(FileJobs& jobs, files::FileHelpers& helpers, std::string server_cwd, size_t max_read_file_bytes)
      : jobs_(jobs), helpers_(helpers), server_cwd_(std::move(server_cwd)), max_read_file_bytes_(max_read_file_bytes) {}

  void ReadFile(FileSession& session, const wire::Sandboxed<wire::FsFollowParams>& params,
                rpc::Reply<wire::FsReadFileResult> reply);
  void WriteFile(FileSession& session, const wire::Sandboxed<wire::FsWriteFileParams>& params,
                 rpc::Reply<wire::Empty> reply);
  void CreateDirectory(FileSession& session, const wire::Sandboxed<wire::FsCreateDirectoryParams>& params,
                       rpc::Reply<wire::Empty> reply);
  void GetMetadata(FileSession& session, const wire::Sandboxed<wire::FsFollowParams>& params,
                   rpc::Reply<wire::FsGetMetadataResult> reply);
  void Canonicalize(FileSession& session, const wire::Sandboxed<wire::FsPathParams>& params,
                    rpc::Reply<wire::FsCanonicalizeResult> reply);
  void ReadDirectory(FileSession& session, const wire::Sandboxed<wire::FsPathParams>& params,
                     rpc::Reply<wire::FsReadDirectoryResult> reply);
  void Remove(FileSession& session, const wire::Sandboxed<wire::FsRemoveParams>& params, rpc::Reply<wire::Empty> reply);
  void Copy(FileSession& session, const wire::Sandboxed<wire::FsCopyParams>& params, rpc::Reply<wire::Empty> reply);
  void Rename(FileSession& session, const wire::Sandboxed<wire::FsRenameParams>& params, rpc::Reply<wire::Empty> reply);
  void Walk(FileSession& session, const wire::Sandboxed<wire::FsWalkParams>& params,
            rpc::Reply<wire::FsWalkResult> reply);

 private:
  template <typename Params, typename T>
  void Operate(FileSession& session, const char* name, const wire::Sandboxed<Params>& params,
               Result<files::Operation<T>> (*prepare)(const Params&), rpc::Reply<T> reply);

  FileJobs& jobs_;
  files::FileHelpers& helpers_;
  const std::string server_cwd_;
  const size_t max_read_file_bytes_;
  files::CachedFiles cached_files_;
};

}  // namespace holdfast::exec_server
