// The service behind the fs/* methods that have paths in their params. It checks the params on the loop, and a file
// worker does the work.
#pragma once

#include <cstddef>
#include <string>
#include <utility>

#include "exec_server/files/file_attachment.h"
#include "exec_server/files/file_requests.h"
#include "files/disk/cached_file.h"
#include "files/operations/table.h"
#include "files/workers/file_step.h"
#include "rpc/reply.h"
#include "sandbox/policy/sandbox_spec.h"
#include "wire/encode.h"
#include "wire/fs_messages.h"
#include "wire/fs_tree_messages.h"
#include "wire/sandbox_messages.h"

namespace holdfast::exec_server {

class FsService {
 public:
  // `server_cwd` is the base of a sandbox whose request names no directory.
  FsService(FileRequests& requests, std::string server_cwd, size_t max_read_file_bytes)
      : requests_(requests), server_cwd_(std::move(server_cwd)), max_read_file_bytes_(max_read_file_bytes) {}

  void ReadFile(FileAttachment& attachment, const wire::Sandboxed<wire::FsFollowParams>& params,
                rpc::Reply<wire::FsReadFileResult> reply);
  void GetMetadata(FileAttachment& attachment, const wire::Sandboxed<wire::FsFollowParams>& params,
                   rpc::Reply<wire::FsGetMetadataResult> reply);

  // Serves every other method, each of which is a row of the table of operations (files/operations/table.h).
  template <typename Method, typename Params, typename T>
  void Operate(FileAttachment& attachment, const files::OperationRow<Method, Params, T>& row,
               const wire::Sandboxed<Params>& params, rpc::Reply<T> reply) {
    auto sandbox = sandbox::DecodeFileSandbox(params.sandbox, server_cwd_);
    if (!sandbox) return reply.Fail(sandbox.error());
    auto operation = row.prepare(params);
    if (!operation) return reply.Fail(operation.error());
    auto step = *sandbox ? files::CallStep(row.method, wire::Encode(static_cast<const Params&>(params)))
                         : files::EncodingStep<T>(operation->TakeUnguarded());
    FileRequest request{
        .claims = std::move(operation->claims), .sandbox = *std::move(sandbox), .step = std::move(step)};
    requests_.Start(attachment, std::move(request), std::move(reply).Untyped());
  }

 private:
  FileRequests& requests_;
  const std::string server_cwd_;
  const size_t max_read_file_bytes_;
  files::CachedFiles cached_files_;
};

}  // namespace holdfast::exec_server
