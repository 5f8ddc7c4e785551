#include "exec_server/files/fs_handle_service.h"

#include <limits>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/base64.h"
#include "files/operations/operations.h"
#include "files/workers/file_step.h"
#include "sandbox/policy/sandbox_spec.h"

namespace holdfast::exec_server {
namespace {

constexpr uint64_t kMaxBlockBytes = 1 << 20;

// Returns a claim on the handle itself, so that requests for the same handle stay in order. Its name is not a path, so
// it collides with no path.
Claim OfHandle(const std::string& id, Access access) { return {"handle " + id, access}; }

Result<> CheckBlock(uint64_t offset, uint64_t length) {
  if (length == 0 || length > kMaxBlockBytes) {
    return Fail(ErrorKind::kInvalidRequest, fmt::format("a block must have 1 to {} bytes", kMaxBlockBytes));
  }
  if (offset > std::numeric_limits<int64_t>::max() - length) {
    return Fail(ErrorKind::kInvalidRequest, "offset: larger than a file can be");
  }
  return {};
}

enum class Use { kRead, kWrite };

// Returns the file of the handle. Fails if it is not open, or was opened for the other use.
Result<const files::File*> FileFor(const FileHandle& handle, Use use) {
  if (!handle.file) return Fail(ErrorKind::kNotFound, fmt::format("{} is not open", handle.path));
  const Use opened_for = handle.mode == wire::FsOpenMode::kRead ? Use::kRead : Use::kWrite;
  if (use != opened_for) {
    return Fail(ErrorKind::kSystem,
                fmt::format("{} is open for {} only", handle.path, use == Use::kRead ? "writing" : "reading"));
  }
  return &*handle.file;
}

Result<> ReadInto(const FileHandle& handle, uint64_t offset, size_t length, std::string& json) {
  TRY(const files::File* file, FileFor(handle, Use::kRead));
  const auto block = std::make_unique_for_overwrite<std::byte[]>(length);
  TRY(const size_t count, file->ReadAt(offset, {block.get(), length}));
  wire::FsReadBlockResult result{{{reinterpret_cast<const char*>(block.get()), count}}, count < length};
  json.reserve(json.size() + Base64EncodedSize(count) + 64);
  wire::Encoder(json).Value(result);
  return {};
}

// Writes a block. If a write to a file that is updated fails, the file is closed: a block behind the missing one would
// make a gap, and a client that goes on with the file later takes all of it for written.
Result<> WriteTo(FileHandle& handle, uint64_t offset, const std::string& bytes) {
  TRY(const files::File* file, FileFor(handle, Use::kWrite));
  auto written = file->WriteAt(offset, std::as_bytes(std::span(bytes)));
  if (!written && handle.mode == wire::FsOpenMode::kUpdate) handle.file.reset();
  return written;
}

// Returns the memory that a block of this length and the answer with it need.
size_t RoomFor(size_t length) { return length + Base64EncodedSize(length) + 4096; }

// Returns the use of a file that has been opened for the handle: the handle keeps it.
files::FileUse KeepIn(std::shared_ptr<FileHandle> handle, std::string id) {
  return
      [handle = std::move(handle), id = std::move(id)](files::File& file, std::string& json, size_t) -> Result<size_t> {
        handle->file = std::move(file);
        wire::FsHandle opened{id};
        wire::Encoder(json).Value(opened);
        return 0;
      };
}

// Returns a function that discards the handle. It holds the handle only weakly. The other owner is the step, which a
// worker destroys, so no file is closed on the loop.
auto DiscardIn(FileAttachment& attachment, std::string id, const std::shared_ptr<FileHandle>& handle) {
  return [&attachment, id = std::move(id), weak = std::weak_ptr(handle)] {
    if (auto failed = weak.lock()) attachment.handles().Discard(id, std::move(failed));
  };
}

}  // namespace

// Opens a file under a handle. Under a sandbox the file helper opens the file and passes the descriptor to the server;
// from there on everything is the same as without a sandbox.
void FsHandleService::Open(FileAttachment& attachment, const wire::Sandboxed<wire::FsOpenParams>& params,
                           rpc::Reply<wire::FsHandle> reply) {
  auto sandbox = sandbox::DecodeFileSandbox(params.sandbox, server_cwd_);
  if (!sandbox) return reply.Fail(sandbox.error());
  auto opening = files::PrepareOpen(params);
  if (!opening) return reply.Fail(opening.error());
  const std::string& id = params.handle_id;
  auto reserved =
      attachment.handles().Reserve(id, opening->claims.front().path, params.mode.value_or(wire::FsOpenMode::kRead));
  if (!reserved) return reply.Fail(reserved.error());
  std::vector<Claim> claims = opening->claims;
  claims.push_back(OfHandle(id, Access::kWrite));
  FileRequest request{.claims = std::move(claims),
                      .sandbox = *std::move(sandbox),
                      .step = files::OpenStep(*std::move(opening), params, KeepIn(*reserved, id)),
                      .on_failure = DiscardIn(attachment, id, *reserved)};
  requests_.Start(attachment, std::move(request), std::move(reply).Untyped());
}

// Reads a block. If the read fails, the handle is closed, because the client cannot go on with it.
void FsHandleService::ReadBlock(FileAttachment& attachment, const wire::FsReadBlockParams& params,
                                rpc::Reply<wire::FsReadBlockResult> reply) {
  const std::string& id = params.handle_id;
  if (auto valid = CheckBlock(0, params.len); !valid) return reply.Fail(valid.error());
  auto handle = attachment.handles().Find(id);
  if (!handle) return reply.Fail(handle.error());
  const size_t room = RoomFor(params.len);
  auto read = [handle = *handle, offset = params.offset, length = params.len, room](
                  files::HelperUse*, std::string& json, size_t allowed) -> Result<size_t> {
    TRY_VOID(CheckBlock(offset, length));
    if (room > allowed) return room;
    TRY_VOID(ReadInto(*handle, offset, length, json));
    return 0;
  };
  FileRequest request{.claims = {{(*handle)->path, Access::kRead}, OfHandle(id, Access::kRead)},
                      .step = std::move(read),
                      .usual_bytes = room,
                      .on_failure = DiscardIn(attachment, id, *handle)};
  requests_.Start(attachment, std::move(request), std::move(reply).Untyped());
}

void FsHandleService::WriteBlock(FileAttachment& attachment, const wire::FsWriteBlockParams& params,
                                 rpc::Reply<wire::Empty> reply) {
  auto bytes = Base64Decode(params.chunk);
  if (!bytes) return reply.Fail({ErrorKind::kInvalidParams, "chunk: " + bytes.error().message});
  if (auto valid = CheckBlock(params.offset, bytes->size()); !valid) return reply.Fail(valid.error());
  auto handle = attachment.handles().Find(params.handle_id);
  if (!handle) return reply.Fail(handle.error());
  auto write = [handle = *handle, offset = params.offset, bytes = *std::move(bytes)]() -> Result<wire::Empty> {
    TRY_VOID(WriteTo(*handle, offset, bytes));
    return wire::Empty{};
  };
  FileRequest request{.claims = {{(*handle)->path, Access::kWrite}, OfHandle(params.handle_id, Access::kWrite)},
                      .step = files::EncodingStep<wire::Empty>(std::move(write))};
  requests_.Start(attachment, std::move(request), std::move(reply).Untyped());
}

// Closes a handle. The id is free at once; the file is closed after the requests for it that came before.
void FsHandleService::Close(FileAttachment& attachment, const wire::FsHandle& params, rpc::Reply<wire::Empty> reply) {
  auto handle = attachment.handles().Find(params.handle_id);
  if (!handle && handle.error().kind != ErrorKind::kNotFound) return reply.Fail(handle.error());
  if (!handle) return reply(wire::Empty{});
  attachment.handles().Forget(params.handle_id, **handle);
  auto close = [handle = *std::move(handle)]() -> Result<wire::Empty> {
    handle->file.reset();
    return wire::Empty{};
  };
  FileRequest request{.claims = {OfHandle(params.handle_id, Access::kWrite)},
                      .step = files::EncodingStep<wire::Empty>(std::move(close))};
  requests_.Start(attachment, std::move(request), std::move(reply).Untyped());
}

}  // namespace holdfast::exec_server
