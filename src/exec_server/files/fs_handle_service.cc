#include "exec_server/files/fs_handle_service.h"

#include <limits>
#include <memory>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "base/base64.h"
#include "exec_server/files/sandboxed_files.h"
#include "files/operations/operations.h"
#include "sandbox/launch/sandbox_spec.h"

namespace holdfast::exec_server {
namespace {

constexpr uint64_t kMaxBlockBytes = 1 << 20;

// A handle is claimed under a name that no path has, so that its requests stay in order among themselves.
Claim OfHandle(const std::string& id, Access access) { return {"handle " + id, access}; }

Result<> CheckBlock(uint64_t offset, uint64_t length) {
  if (length == 0 || length > kMaxBlockBytes) {
    return Fail(ErrorKind::kInvalidRequest, fmt::format("a block has 1 to {} bytes", kMaxBlockBytes));
  }
  if (offset > std::numeric_limits<int64_t>::max() - length) {
    return Fail(ErrorKind::kInvalidRequest, "offset: beyond what a file can hold");
  }
  return {};
}

// The file of a handle that was opened for `mode`.
Result<const files::File*> FileFor(const FileHandle& handle, wire::FsOpenMode mode) {
  if (!handle.file) return Fail(ErrorKind::kNotFound, fmt::format("{} is not open", handle.path));
  if (handle.mode != mode) {
    return Fail(ErrorKind::kSystem, fmt::format("{} is open for {} only", handle.path,
                                                mode == wire::FsOpenMode::kRead ? "writing" : "reading"));
  }
  return &*handle.file;
}

Result<> ReadInto(const FileHandle& handle, uint64_t offset, size_t length, std::string& json) {
  TRY(const files::File* file, FileFor(handle, wire::FsOpenMode::kRead));
  const auto block = std::make_unique_for_overwrite<std::byte[]>(length);
  TRY(const size_t count, file->ReadAt(offset, {block.get(), length}));
  wire::FsReadBlockResult result{{{reinterpret_cast<const char*>(block.get()), count}}, count < length};
  json.reserve(json.size() + Base64EncodedSize(count) + 64);
  wire::Encoder(json).Value(result);
  return {};
}

// For the block and its answer.
size_t RoomFor(size_t length) { return length + Base64EncodedSize(length) + 4096; }

// Does not share the handle: it is destroyed on the loop, where no file is to be closed.
FileJobs::Settled ForgetWhenFailed(FileSession& from, const std::string& id, const std::weak_ptr<FileHandle>& failing) {
  return [session = from.weak_from_this(), id, failing](const Result<>& outcome) {
    const auto alive = outcome ? nullptr : session.lock();
    auto handle = alive ? failing.lock() : nullptr;
    if (handle) alive->handles().Discard(id, std::move(handle));
  };
}

FileJobs::Step OpenHandle(std::shared_ptr<FileHandle> handle, std::string id,
                          std::move_only_function<Result<files::File>()> open) {
  return [handle = std::move(handle), id = std::move(id), open = std::move(open)](std::string& json,
                                                                                  size_t) mutable -> Result<size_t> {
    TRY(handle->file, open());
    wire::FsHandle opened{id};
    wire::Encoder(json).Value(opened);
    return 0;
  };
}

}  // namespace

// Under a sandbox the helper opens the file and passes it on: what follows is the same.
void FsHandleService::Open(FileSession& session, const wire::Sandboxed<wire::FsOpenParams>& params,
                           rpc::Reply<wire::FsHandle> reply) {
  const auto sandbox = sandbox::DecodeFileSandbox(params.sandbox, server_cwd_);
  if (!sandbox) return reply.Fail(sandbox.error());
  auto opening = files::PrepareOpen(params);
  if (!opening) return reply.Fail(opening.error());
  const std::string& id = params.handle_id;
  std::vector<Claim> claims = std::move(opening->claims);
  auto reserved = session.handles().Reserve(id, claims.front().path, params.mode.value_or(wire::FsOpenMode::kRead));
  if (!reserved) return reply.Fail(reserved.error());
  claims.push_back(OfHandle(id, Access::kWrite));
  auto settled = ForgetWhenFailed(session, id, *reserved);
  if (!*sandbox) {
    return jobs_.RunSteps(session, std::move(claims), OpenHandle(*reserved, id, opening->TakeUnguarded()),
                          std::move(reply).Untyped(), std::move(settled));
  }
  HelperUse helper;
  jobs_.RunSteps(session, std::move(claims), helper.RetryWhenStale(OpenHandle(*reserved, id, helper.Opener(params))),
                 std::move(reply).Untyped(), std::move(settled),
                 helper.Gate(helpers_, session.session_id(), **sandbox));
}

// A read that fails leaves nothing to go on with: the handle is closed.
void FsHandleService::ReadBlock(FileSession& session, const wire::FsReadBlockParams& params,
                                rpc::Reply<wire::FsReadBlockResult> reply) {
  const std::string& id = params.handle_id;
  if (auto valid = CheckBlock(0, params.len); !valid) return reply.Fail(valid.error());
  auto handle = session.handles().Find(id);
  if (!handle) return reply.Fail(handle.error());
  const size_t room = RoomFor(params.len);
  auto read = [handle = *handle, offset = params.offset, length = params.len, room](std::string& json,
                                                                                    size_t allowed) -> Result<size_t> {
    TRY_VOID(CheckBlock(offset, length));
    if (room > allowed) return room;
    TRY_VOID(ReadInto(*handle, offset, length, json));
    return 0;
  };
  jobs_.RunSteps(session, {{(*handle)->path, Access::kRead}, OfHandle(id, Access::kRead)}, std::move(read),
                 std::move(reply).Untyped(), ForgetWhenFailed(session, id, *handle), {}, room);
}

void FsHandleService::WriteBlock(FileSession& session, const wire::FsWriteBlockParams& params,
                                 rpc::Reply<wire::Empty> reply) {
  auto bytes = Base64Decode(params.chunk);
  if (!bytes) return reply.Fail({ErrorKind::kInvalidParams, "chunk: " + bytes.error().message});
  if (auto valid = CheckBlock(params.offset, bytes->size()); !valid) return reply.Fail(valid.error());
  auto handle = session.handles().Find(params.handle_id);
  if (!handle) return reply.Fail(handle.error());
  auto write = [handle = *handle, offset = params.offset, bytes = *std::move(bytes)]() -> Result<wire::Empty> {
    TRY(const files::File* file, FileFor(*handle, wire::FsOpenMode::kReplace));
    TRY_VOID(file->WriteAt(offset, std::as_bytes(std::span(bytes))));
    return wire::Empty{};
  };
  jobs_.Run<wire::Empty>(session, {{(*handle)->path, Access::kWrite}, OfHandle(params.handle_id, Access::kWrite)},
                         std::move(write), std::move(reply));
}

// The id is free at once; the file is closed after the requests that came before.
void FsHandleService::Close(FileSession& session, const wire::FsHandle& params, rpc::Reply<wire::Empty> reply) {
  FileHandles& handles = session.handles();
  auto handle = handles.Find(params.handle_id);
  if (!handle && handle.error().kind != ErrorKind::kNotFound) return reply.Fail(handle.error());
  if (!handle) return reply(wire::Empty{});
  handles.Forget(params.handle_id, **handle);
  auto close = [handle = *handle]() -> Result<wire::Empty> {
    handle->file.reset();
    return wire::Empty{};
  };
  jobs_.Run<wire::Empty>(session, {OfHandle(params.handle_id, Access::kWrite)}, std::move(close), std::move(reply));
}

}  // namespace holdfast::exec_server
