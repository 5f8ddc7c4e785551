#include "exec_server/files/fs_service.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/file_uri.h"
#include "files/disk/metadata.h"
#include "files/operations/file_reader.h"
#include "files/workers/file_step.h"

namespace holdfast::exec_server {
namespace {

constexpr size_t kCachedReadBytes = 32 << 10;

// Returns the length of the longest file whose base64 fits into a message of `message_bytes`, besides the rest of the
// message with a request id of moderate length.
size_t LongestFileIn(size_t message_bytes) {
  constexpr size_t envelope_bytes = 4096;
  return message_bytes < envelope_bytes ? 0 : (message_bytes - envelope_bytes) / 4 * 3;
}

}  // namespace

// Reads a file. A small file that the kernel has in memory is read on the loop, because waking a worker and then the
// loop again costs more than the read.
void FsService::ReadFile(FileAttachment& attachment, const wire::Sandboxed<wire::FsFollowParams>& params,
                         rpc::Reply<wire::FsReadFileResult> reply) {
  auto sandbox = sandbox::DecodeFileSandbox(params.sandbox, server_cwd_);
  if (!sandbox) return reply.Fail(sandbox.error());
  const wire::FsOpenFileParams opening{static_cast<const wire::FsFollowParams&>(params), wire::FsOpenMode::kRead};
  auto open = files::PrepareOpen(opening);
  if (!open) return reply.Fail(open.error());
  const size_t max_bytes = std::min<size_t>(max_read_file_bytes_, LongestFileIn(attachment.client().max_message_bytes));
  const Claim& claim = open->claims.front();
  if (!*sandbox && attachment.order().IsFree(claim)) {
    const auto bytes = cached_files_.Read(claim.path, files::SymlinksOf(params.follow_symlinks),
                                          std::min(max_bytes, kCachedReadBytes));
    if (bytes) return reply({{*bytes}});
  }
  std::vector<Claim> claims = open->claims;
  FileRequest request{.claims = std::move(claims),
                      .sandbox = *std::move(sandbox),
                      .step = files::OpenStep(*std::move(open), opening, files::FileReader(max_bytes)),
                      .usual_bytes = files::FileReader::kUsualBytes};
  requests_.Start(attachment, std::move(request), std::move(reply).Untyped());
}

// Returns the metadata of a file. If the kernel has them in memory, they are read on the loop, without a worker:
// clients look for many files that do not exist.
void FsService::GetMetadata(FileAttachment& attachment, const wire::Sandboxed<wire::FsFollowParams>& params,
                            rpc::Reply<wire::FsGetMetadataResult> reply) {
  const auto path = ParsePath(params.path);
  if (path && !params.sandbox && attachment.order().IsFree({*path, Access::kRead})) {
    if (auto cached = files::GetCachedMetadata(*path, files::SymlinksOf(params.follow_symlinks))) {
      return *cached ? reply(files::ToWire(**cached)) : reply.Fail(cached->error());
    }
  }
  Operate(attachment, files::kGetMetadata, params, std::move(reply));
}

}  // namespace holdfast::exec_server
