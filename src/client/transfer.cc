#include "client/transfer.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>

#include "base/base64.h"
#include "base/random_id.h"
#include "base/result.h"
#include "client/connection.h"
#include "client/in_sandbox.h"
#include "client/remote_file.h"
#include "client/session.h"
#include "loop/event.h"
#include "loop/scope.h"
#include "loop/task.h"
#include "wire/fs_handle_messages.h"

namespace holdfast::client {
namespace {

// The members are those of wire::FsOpenFileParams.
struct Opening {
  wire::FsOpenMode mode = wire::FsOpenMode::kRead;
  std::optional<uint64_t> size = {};
  FileAttributes attributes = {};
};

// A file that is open on the server. The handle belongs to one connection, and it is closed when this object is
// destroyed.
class OpenFile {
 public:
  static loop::Task<Result<std::unique_ptr<OpenFile>>> Open(RemoteFile file, Opening opening,
                                                            std::shared_ptr<Connection> connection);
  OpenFile(std::shared_ptr<Session> session, std::shared_ptr<Connection> connection, std::string handle_id);
  ~OpenFile();
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;

  loop::Task<Result<wire::FsReadBlockResult>> Read(uint64_t offset, uint64_t bytes);
  loop::Task<Result<wire::Empty>> Write(uint64_t offset, std::string bytes);
  loop::Task<Result<wire::Empty>> Close();  // what was written is in the file

 private:
  const std::shared_ptr<Session> session_;
  const std::shared_ptr<Connection> connection_;
  const std::string handle_id_;
  bool closed_ = false;
};

constexpr size_t kMaxHandleBytes = 32;

loop::Task<> CloseHandle(std::shared_ptr<Connection> connection, std::string handle_id,
                         std::chrono::milliseconds timeout) {
  (void)co_await connection->peer().Call<wire::FsClose>({.handle_id = std::move(handle_id)}, timeout);
}

loop::Task<Result<std::unique_ptr<OpenFile>>> OpenFile::Open(RemoteFile file, Opening opening,
                                                             std::shared_ptr<Connection> connection) {
  wire::FsOpenParams params;
  params.handle_id = RandomUuid().substr(0, kMaxHandleBytes);
  params.path = file.session->traits().PathText(file.path);
  if (opening.mode != wire::FsOpenMode::kRead) params.mode = opening.mode;
  params.size = opening.size;
  params.permissions = opening.attributes.permissions;
  params.modified_at_ms = opening.attributes.modified_at_ms;
  const std::string handle_id = params.handle_id;
  auto sandboxed = InSandbox(file.sandbox, std::move(params));
  if (!sandboxed) co_return std::unexpected(std::move(sandboxed).error());
  auto open = std::make_unique<OpenFile>(file.session, connection, handle_id);
  const auto answer = co_await connection->Call<wire::FsOpen>(*std::move(sandboxed), file.session->TimeoutOf({}));
  if (answer) co_return std::move(open);
  open->closed_ = true;
  co_return std::unexpected(answer.error());
}

OpenFile::OpenFile(std::shared_ptr<Session> session, std::shared_ptr<Connection> connection, std::string handle_id)
    : session_(std::move(session)), connection_(std::move(connection)), handle_id_(std::move(handle_id)) {}

OpenFile::~OpenFile() {
  if (!closed_ && !connection_->ended()) {
    session_->RunDetached(CloseHandle(connection_, handle_id_, session_->TimeoutOf({})));
  }
}

loop::Task<Result<wire::FsReadBlockResult>> OpenFile::Read(uint64_t offset, uint64_t bytes) {
  wire::FsReadBlockParams params{.handle_id = handle_id_, .offset = offset, .len = bytes};
  return connection_->Call<wire::FsReadBlock>(std::move(params), session_->TimeoutOf({}));
}

loop::Task<Result<wire::Empty>> OpenFile::Write(uint64_t offset, std::string bytes) {
  const std::string chunk = Base64Encode(std::as_bytes(std::span(bytes)));
  wire::FsWriteBlockParams params;
  params.handle_id = handle_id_;
  params.offset = offset;
  params.chunk = chunk;
  return connection_->Call<wire::FsWriteBlock>(std::move(params), session_->TimeoutOf({}));
}

loop::Task<Result<wire::Empty>> OpenFile::Close() {
  closed_ = true;
  return connection_->Call<wire::FsClose>({.handle_id = handle_id_}, session_->TimeoutOf({}));
}

constexpr size_t kMaxBlockBytes = 1 << 20;
constexpr size_t kMaxWholeFileBytes = 512u << 20;  // the largest file that servers take in one message

// The answers to the requests that are under way, by offset.
template <typename T>
struct Blocks {
  std::map<uint64_t, Result<T>> arrived;
  size_t under_way = 0;
  loop::Event changed;
};

template <typename T>
loop::Task<> Fetch(loop::Task<Result<T>> request, uint64_t offset, Blocks<T>& blocks) {
  ++blocks.under_way;
  auto answer = co_await std::move(request);
  --blocks.under_way;
  blocks.arrived.emplace(offset, std::move(answer));
  blocks.changed.Notify();
}

size_t BlockBytes(const TransferOptions& options) { return std::clamp<size_t>(options.block_bytes, 1, kMaxBlockBytes); }
size_t BlocksAtOnce(const TransferOptions& options) { return std::max<size_t>(options.blocks_at_once, 1); }

// Gives the file from `offset` on to the sink, and advances `offset` by what the sink has taken. A server may give less
// than it is asked for only at the end of the file.
loop::Task<Result<>> ReadBlocks(OpenFile& file, const ByteSink& sink, TransferOptions options, uint64_t& offset) {
  const size_t block_bytes = BlockBytes(options);
  Blocks<wire::FsReadBlockResult> blocks;
  loop::Scope requests;
  for (uint64_t ask = offset;;) {
    while (blocks.under_way < BlocksAtOnce(options) && ask - offset < block_bytes * BlocksAtOnce(options)) {
      requests.Start(Fetch(file.Read(ask, block_bytes), ask, blocks));
      ask += block_bytes;
    }
    auto block = blocks.arrived.extract(offset);
    if (block.empty()) {
      co_await blocks.changed.Next();
      continue;
    }
    if (!block.mapped()) co_return std::unexpected(block.mapped().error());
    const std::string_view bytes = block.mapped()->chunk.view();
    if (auto taken = sink(bytes); !taken) co_return std::move(taken);
    offset += bytes.size();
    if (block.mapped()->eof || bytes.size() < block_bytes) co_return Result<>();
  }
}

// Writes everything that the source has from `confirmed` on, and advances `confirmed` by what the server has written
// without a gap.
loop::Task<Result<>> WriteBlocks(OpenFile& file, const ByteSource& source, TransferOptions options,
                                 uint64_t& confirmed) {
  Blocks<wire::Empty> blocks;
  loop::Scope requests;
  std::set<uint64_t> under_way;  // the offsets of the blocks that are not confirmed
  uint64_t offset = confirmed;
  for (bool at_end = false;;) {
    while (!at_end && blocks.under_way < BlocksAtOnce(options)) {
      auto bytes = source(offset, BlockBytes(options));
      if (!bytes) co_return std::unexpected(std::move(bytes).error());
      at_end = bytes->empty();
      if (at_end) break;
      const uint64_t size = bytes->size();
      under_way.insert(offset);
      requests.Start(Fetch(file.Write(offset, *std::move(bytes)), offset, blocks));
      offset += size;
    }
    for (const auto& [at, written] : blocks.arrived) {
      if (!written) co_return std::unexpected(written.error());
      under_way.erase(at);
    }
    blocks.arrived.clear();
    confirmed = under_way.empty() ? offset : *under_way.begin();
    if (at_end && blocks.under_way == 0) co_return Result<>();
    if (blocks.under_way == BlocksAtOnce(options) || at_end) co_await blocks.changed.Next();
  }
}

Result<wire::Sandboxed<wire::FsFollowParams>> PathParams(const RemoteFile& file) {
  wire::FsFollowParams params;
  params.path = file.session->traits().PathText(file.path);
  return InSandbox(file.sandbox, std::move(params));
}

loop::Task<Result<uint64_t>> DownloadWhole(RemoteFile file, ByteSink sink, uint64_t offset) {
  auto params = PathParams(file);
  if (!params) co_return std::unexpected(std::move(params).error());
  auto answer = co_await file.session->Call<wire::FsReadFile>(*std::move(params));
  if (!answer) co_return std::unexpected(std::move(answer).error());
  const std::string_view bytes = answer->data.view();
  const std::string_view wanted = bytes.substr(std::min<uint64_t>(offset, bytes.size()));
  if (auto taken = sink(wanted); !taken) co_return std::unexpected(std::move(taken).error());
  co_return wanted.size();
}

loop::Task<Result<uint64_t>> UploadWhole(RemoteFile file, ByteSource source) {
  std::string bytes;
  while (true) {
    auto more = source(bytes.size(), kMaxBlockBytes);
    if (!more) co_return std::unexpected(std::move(more).error());
    if (more->empty()) break;
    bytes += *more;
    if (bytes.size() > kMaxWholeFileBytes) {
      co_return Fail(ErrorKind::kLimit, "this server takes files of at most 512 MiB");
    }
  }
  const std::string data = Base64Encode(std::as_bytes(std::span(bytes)));
  wire::FsWriteFileParams params;
  params.path = file.session->traits().PathText(file.path);
  params.data_base64 = data;
  auto sandboxed = InSandbox(file.sandbox, std::move(params));
  if (!sandboxed) co_return std::unexpected(std::move(sandboxed).error());
  const auto answer = co_await file.session->Call<wire::FsWriteFile>(*std::move(sandboxed));
  if (!answer) co_return std::unexpected(answer.error());
  co_return bytes.size();
}

bool IsDisconnected(const Error& error) { return error.kind == ErrorKind::kDisconnected; }

std::unexpected<Error> CannotUpdate() {
  return Fail(ErrorKind::kInvalidRequest, "this server can neither go on with a file nor set its permissions");
}

// A server that updates files goes on at the offset. Other servers begin again, and know no permissions.
Opening ToUpload(const ServerTraits& traits, const TransferOptions& options, uint64_t offset) {
  if (!traits.updates_files()) return {.mode = wire::FsOpenMode::kReplace};
  return {.mode = wire::FsOpenMode::kUpdate, .size = offset, .attributes = {.permissions = options.permissions}};
}

// The size and the time of a file change when its content does.
bool IsSameVersion(const wire::FsGetMetadataResult& a, const wire::FsGetMetadataResult& b) {
  return a.size == b.size && a.modified_at_ms == b.modified_at_ms;
}

}  // namespace

loop::Task<Result<uint64_t>> Download(RemoteFile file, ByteSink sink, TransferOptions options) {
  const auto params = PathParams(file);
  if (!params) co_return std::unexpected(params.error());
  std::optional<wire::FsGetMetadataResult> version;
  uint64_t offset = options.offset;
  for (uint64_t lost = 0;;) {
    auto metadata = co_await file.session->Call<wire::FsGetMetadata>(*params);
    if (!metadata) co_return std::unexpected(std::move(metadata).error());
    if (version && !IsSameVersion(*version, *metadata)) {
      co_return Fail(ErrorKind::kInvalidRequest, file.path + " has changed while it was downloaded");
    }
    version = *metadata;
    loop::Deadline deadline(file.session->loop(), file.session->TimeoutOf({}));
    auto connection = co_await file.session->ConnectedToDrive(lost, deadline);
    if (!connection) co_return std::unexpected(std::move(connection).error());
    lost = (*connection)->number();
    auto open = co_await OpenFile::Open(file, {}, *connection);
    if (!open && open.error().kind == ErrorKind::kUnknownMethod) {
      co_return co_await DownloadWhole(file, std::move(sink), offset);
    }
    if (!open && !IsDisconnected(open.error())) co_return std::unexpected(std::move(open).error());
    if (!open) continue;
    const auto read = co_await ReadBlocks(**open, sink, options, offset);
    if (read) co_return offset - options.offset;
    if (!IsDisconnected(read.error())) co_return std::unexpected(read.error());
  }
}

loop::Task<Result<uint64_t>> Upload(RemoteFile file, ByteSource source, TransferOptions options) {
  const ServerTraits& traits = file.session->traits();
  if (options.offset > 0 && !traits.updates_files()) co_return CannotUpdate();
  if (!traits.streams_uploads()) co_return co_await UploadWhole(std::move(file), std::move(source));
  uint64_t offset = options.offset;
  for (uint64_t lost = 0;;) {
    loop::Deadline deadline(file.session->loop(), file.session->TimeoutOf({}));
    auto connection = co_await file.session->ConnectedToDrive(lost, deadline);
    if (!connection) co_return std::unexpected(std::move(connection).error());
    lost = (*connection)->number();
    const Opening opening = ToUpload(traits, options, offset);
    auto open = co_await OpenFile::Open(file, opening, *connection);
    if (!open && !IsDisconnected(open.error())) co_return std::unexpected(std::move(open).error());
    if (!open) continue;
    auto written = co_await WriteBlocks(**open, source, options, offset);
    if (written) {
      if (const auto closed = co_await (*open)->Close(); !closed) written = std::unexpected(closed.error());
    }
    if (written) co_return offset - options.offset;
    if (!IsDisconnected(written.error())) co_return std::unexpected(std::move(written).error());
    if (!traits.updates_files()) offset = 0;
  }
}

loop::Task<Result<>> SetAttributes(RemoteFile file, FileAttributes attributes) {
  if (!file.session->traits().updates_files()) co_return CannotUpdate();
  loop::Deadline deadline(file.session->loop(), file.session->TimeoutOf({}));
  auto connection = co_await file.session->ConnectedToDrive(0, deadline);
  if (!connection) co_return std::unexpected(std::move(connection).error());
  const Opening opening{.mode = wire::FsOpenMode::kUpdate, .attributes = attributes};
  auto open = co_await OpenFile::Open(file, opening, *connection);
  if (!open) co_return std::unexpected(std::move(open).error());
  const auto closed = co_await (*open)->Close();
  if (!closed) co_return std::unexpected(closed.error());
  co_return Result<>();
}

}  // namespace holdfast::client
