#include "client/open_file.h"

#include <span>
#include <utility>

#include "base/base64.h"
#include "base/random_id.h"
#include "client/in_sandbox.h"

namespace holdfast::client {
namespace {

constexpr size_t kMaxHandleBytes = 32;

loop::Task<> CloseHandle(std::shared_ptr<Connection> connection, std::string handle_id,
                         std::chrono::milliseconds timeout) {
  (void)co_await connection->peer().Call<wire::FsClose>({.handle_id = std::move(handle_id)}, timeout);
}

}  // namespace

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

}  // namespace holdfast::client
