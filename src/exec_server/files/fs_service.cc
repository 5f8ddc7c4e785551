#include "exec_server/files/fs_service.h"

#include <algorithm>
#include <utility>

#include "base/file_uri.h"
#include "exec_server/files/file_reader.h"
#include "exec_server/files/sandboxed_files.h"
#include "files/disk/metadata.h"
#include "sandbox/launch/sandbox_spec.h"

namespace holdfast::exec_server {
namespace {

constexpr size_t kCachedReadBytes = 32 << 10;

// With room for the rest of the message, a request id of some length included.
size_t LongestFileIn(size_t message_bytes) {
  constexpr size_t envelope_bytes = 4096;
  return message_bytes < envelope_bytes ? 0 : (message_bytes - envelope_bytes) / 4 * 3;
}

}  // namespace

template <typename Params, typename T>
void FsService::Operate(FileSession& session, const char* name, const wire::Sandboxed<Params>& params,
                        Result<files::Operation<T>> (*prepare)(const Params&), rpc::Reply<T> reply) {
  const auto sandbox = sandbox::DecodeFileSandbox(params.sandbox, server_cwd_);
  if (!sandbox) return reply.Fail(sandbox.error());
  auto operation = prepare(params);
  if (!operation) return reply.Fail(operation.error());
  if (!*sandbox) {
    return jobs_.Run<T>(session, std::move(operation->claims), operation->TakeUnguarded(), std::move(reply));
  }
  HelperUse helper;
  jobs_.RunSteps(session, std::move(operation->claims),
                 helper.Call(name, wire::Encode(static_cast<const Params&>(params))), std::move(reply).Untyped(), {},
                 helper.Gate(helpers_, session.session_id(), **sandbox));
}

// What the kernel has in memory is answered without a worker, if it is small: two wake-ups cost more than the read.
void FsService::ReadFile(FileSession& session, const wire::Sandboxed<wire::FsFollowParams>& params,
                         rpc::Reply<wire::FsReadFileResult> reply) {
  const auto sandbox = sandbox::DecodeFileSandbox(params.sandbox, server_cwd_);
  if (!sandbox) return reply.Fail(sandbox.error());
  const wire::FsOpenFileParams opening{static_cast<const wire::FsFollowParams&>(params), wire::FsOpenMode::kRead};
  auto open = files::PrepareOpen(opening);
  if (!open) return reply.Fail(open.error());
  const size_t max_bytes = std::min<size_t>(max_read_file_bytes_, LongestFileIn(session.client().max_message_bytes));
  if (*sandbox) {
    HelperUse helper;
    return jobs_.RunSteps(session, std::move(open->claims),
                          helper.RetryWhenStale(FileReader(helper.Opener(opening), max_bytes)),
                          std::move(reply).Untyped(), {}, helper.Gate(helpers_, session.session_id(), **sandbox),
                          FileReader::kUsualBytes);
  }
  const Claim& claim = open->claims.front();
  if (session.order().IsFree(claim)) {
    const auto bytes = cached_files_.Read(claim.path, files::SymlinksOf(params.follow_symlinks),
                                          std::min(max_bytes, kCachedReadBytes));
    if (bytes) return reply({{*bytes}});
  }
  jobs_.RunSteps(session, std::move(open->claims), FileReader(open->TakeUnguarded(), max_bytes),
                 std::move(reply).Untyped(), {}, {}, FileReader::kUsualBytes);
}

void FsService::WriteFile(FileSession& session, const wire::Sandboxed<wire::FsWriteFileParams>& params,
                          rpc::Reply<wire::Empty> reply) {
  Operate(session, "fs/writeFile", params, files::PrepareWriteFile, std::move(reply));
}

void FsService::CreateDirectory(FileSession& session, const wire::Sandboxed<wire::FsCreateDirectoryParams>& params,
                                rpc::Reply<wire::Empty> reply) {
  Operate(session, "fs/createDirectory", params, files::PrepareCreateDirectory, std::move(reply));
}

// Clients look for many files that are not there: what the kernel knows by heart is answered without a worker.
void FsService::GetMetadata(FileSession& session, const wire::Sandboxed<wire::FsFollowParams>& params,
                            rpc::Reply<wire::FsGetMetadataResult> reply) {
  const auto path = ParsePath(params.path);
  if (path && !params.sandbox && session.order().IsFree({*path, Access::kRead})) {
    if (auto cached = files::GetCachedMetadata(*path, files::SymlinksOf(params.follow_symlinks))) {
      return *cached ? reply(files::OnWire(**cached)) : reply.Fail(cached->error());
    }
  }
  Operate(session, "fs/getMetadata", params, files::PrepareGetMetadata, std::move(reply));
}

void FsService::Canonicalize(FileSession& session, const wire::Sandboxed<wire::FsPathParams>& params,
                             rpc::Reply<wire::FsCanonicalizeResult> reply) {
  Operate(session, "fs/canonicalize", params, files::PrepareCanonicalize, std::move(reply));
}

void FsService::ReadDirectory(FileSession& session, const wire::Sandboxed<wire::FsPathParams>& params,
                              rpc::Reply<wire::FsReadDirectoryResult> reply) {
  Operate(session, "fs/readDirectory", params, files::PrepareReadDirectory, std::move(reply));
}

void FsService::Remove(FileSession& session, const wire::Sandboxed<wire::FsRemoveParams>& params,
                       rpc::Reply<wire::Empty> reply) {
  Operate(session, "fs/remove", params, files::PrepareRemove, std::move(reply));
}

void FsService::Copy(FileSession& session, const wire::Sandboxed<wire::FsCopyParams>& params,
                     rpc::Reply<wire::Empty> reply) {
  Operate(session, "fs/copy", params, files::PrepareCopy, std::move(reply));
}

void FsService::Rename(FileSession& session, const wire::Sandboxed<wire::FsRenameParams>& params,
                       rpc::Reply<wire::Empty> reply) {
  Operate(session, "fs/rename", params, files::PrepareRename, std::move(reply));
}

void FsService::Walk(FileSession& session, const wire::Sandboxed<wire::FsWalkParams>& params,
                     rpc::Reply<wire::FsWalkResult> reply) {
  Operate(session, "fs/walk", params, files::PrepareWalk, std::move(reply));
}

}  // namespace holdfast::exec_server
