#include "exec_server/fs_service.h"

#include <algorithm>
#include <utility>

#include "base/file_uri.h"
#include "exec_server/file_reader.h"
#include "exec_server/sandbox_spec.h"
#include "exec_server/sandboxed_files.h"
#include "fs/metadata.h"

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
void FsService::Operate(Session& session, const char* name, const wire::Sandboxed<Params>& params,
                        Result<fs_helper::Operation<T>> (*prepare)(const Params&), rpc::Reply<T> reply) {
  const auto sandbox = DecodeFileSandbox(params.sandbox, runtime_.environment_info.cwd);
  if (!sandbox) return reply.Fail(sandbox.error());
  auto operation = prepare(params);
  if (!operation) return reply.Fail(operation.error());
  if (!*sandbox) {
    return jobs_.Run<T>(session, std::move(operation->claims), operation->TakeUnguarded(), std::move(reply));
  }
  HelperUse helper;
  jobs_.RunSteps(session, std::move(operation->claims),
                 helper.Call(name, wire::Encode(static_cast<const Params&>(params))), std::move(reply).Untyped(), {},
                 helper.Gate(runtime_.file_helpers, session.id(), **sandbox));
}

// What the kernel has in memory is answered without a worker, if it is small: two wake-ups cost more than the read.
void FsService::ReadFile(Session& session, const wire::Sandboxed<wire::FsFollowParams>& params,
                         rpc::Reply<wire::FsReadFileResult> reply) {
  const auto sandbox = DecodeFileSandbox(params.sandbox, runtime_.environment_info.cwd);
  if (!sandbox) return reply.Fail(sandbox.error());
  const wire::FsOpenFileParams opening{static_cast<const wire::FsFollowParams&>(params), wire::FsOpenMode::kRead};
  auto open = fs_helper::PrepareOpen(opening);
  if (!open) return reply.Fail(open.error());
  const size_t max_bytes = std::min<size_t>(runtime_.config.max_read_file_bytes,
                                            LongestFileIn(session.attachment()->client().max_message_bytes));
  if (*sandbox) {
    HelperUse helper;
    return jobs_.RunSteps(session, std::move(open->claims),
                          helper.RetryWhenStale(FileReader(helper.Opener(opening), max_bytes)),
                          std::move(reply).Untyped(), {}, helper.Gate(runtime_.file_helpers, session.id(), **sandbox),
                          FileReader::kUsualBytes);
  }
  const Claim& claim = open->claims.front();
  if (session.attachment()->order().IsFree(claim)) {
    const auto bytes = cached_files_.Read(claim.path, fs_helper::SymlinksOf(params.follow_symlinks),
                                          std::min(max_bytes, kCachedReadBytes));
    if (bytes) return reply({{*bytes}});
  }
  jobs_.RunSteps(session, std::move(open->claims), FileReader(open->TakeUnguarded(), max_bytes),
                 std::move(reply).Untyped(), {}, {}, FileReader::kUsualBytes);
}

void FsService::WriteFile(Session& session, const wire::Sandboxed<wire::FsWriteFileParams>& params,
                          rpc::Reply<wire::Empty> reply) {
  Operate(session, "fs/writeFile", params, fs_helper::PrepareWriteFile, std::move(reply));
}

void FsService::CreateDirectory(Session& session, const wire::Sandboxed<wire::FsCreateDirectoryParams>& params,
                                rpc::Reply<wire::Empty> reply) {
  Operate(session, "fs/createDirectory", params, fs_helper::PrepareCreateDirectory, std::move(reply));
}

// Clients look for many files that are not there: what the kernel knows by heart is answered without a worker.
void FsService::GetMetadata(Session& session, const wire::Sandboxed<wire::FsFollowParams>& params,
                            rpc::Reply<wire::FsGetMetadataResult> reply) {
  const auto path = ParsePath(params.path);
  if (path && !params.sandbox && session.attachment()->order().IsFree({*path, Access::kRead})) {
    if (auto cached = fs::GetCachedMetadata(*path, fs_helper::SymlinksOf(params.follow_symlinks))) {
      return *cached ? reply(fs_helper::OnWire(**cached)) : reply.Fail(cached->error());
    }
  }
  Operate(session, "fs/getMetadata", params, fs_helper::PrepareGetMetadata, std::move(reply));
}

void FsService::Canonicalize(Session& session, const wire::Sandboxed<wire::FsPathParams>& params,
                             rpc::Reply<wire::FsCanonicalizeResult> reply) {
  Operate(session, "fs/canonicalize", params, fs_helper::PrepareCanonicalize, std::move(reply));
}

void FsService::ReadDirectory(Session& session, const wire::Sandboxed<wire::FsPathParams>& params,
                              rpc::Reply<wire::FsReadDirectoryResult> reply) {
  Operate(session, "fs/readDirectory", params, fs_helper::PrepareReadDirectory, std::move(reply));
}

void FsService::Remove(Session& session, const wire::Sandboxed<wire::FsRemoveParams>& params,
                       rpc::Reply<wire::Empty> reply) {
  Operate(session, "fs/remove", params, fs_helper::PrepareRemove, std::move(reply));
}

void FsService::Copy(Session& session, const wire::Sandboxed<wire::FsCopyParams>& params,
                     rpc::Reply<wire::Empty> reply) {
  Operate(session, "fs/copy", params, fs_helper::PrepareCopy, std::move(reply));
}

void FsService::Rename(Session& session, const wire::Sandboxed<wire::FsRenameParams>& params,
                       rpc::Reply<wire::Empty> reply) {
  Operate(session, "fs/rename", params, fs_helper::PrepareRename, std::move(reply));
}

void FsService::Walk(Session& session, const wire::Sandboxed<wire::FsWalkParams>& params,
                     rpc::Reply<wire::FsWalkResult> reply) {
  Operate(session, "fs/walk", params, fs_helper::PrepareWalk, std::move(reply));
}

}  // namespace holdfast::exec_server
