#include "client/files.h"

#include <span>
#include <utility>

#include "base/base64.h"
#include "base/file_uri.h"
#include "client/in_sandbox.h"
#include "client/session.h"

namespace holdfast::client {
namespace {

// Returns the outcome of a call whose result is empty.
Result<> Done(const Result<wire::Empty>& answer) {
  if (!answer) return std::unexpected(answer.error());
  return {};
}

wire::FsFollowParams Follow(std::string path) {
  wire::FsFollowParams params;
  params.path = std::move(path);
  return params;
}

}  // namespace

Files::Files(std::shared_ptr<Session> session, std::string sandbox)
    : session_(std::move(session)), sandbox_(std::move(sandbox)) {}

loop::Task<Result<std::string>> Files::Read(std::string path) {
  const auto session = session_;
  auto params = InSandbox(sandbox_, Follow(session->traits().PathText(path)));
  auto answer = co_await session->Call<wire::FsReadFile>(std::move(params));
  if (!answer) co_return std::unexpected(std::move(answer).error());
  co_return std::move(answer->data).Take();
}

loop::Task<Result<>> Files::Write(std::string path, std::string bytes) {
  const auto session = session_;
  const std::string data = Base64Encode(std::as_bytes(std::span(bytes)));
  wire::FsWriteFileParams params;
  params.path = session->traits().PathText(path);
  params.data_base64 = data;
  co_return Done(co_await session->Call<wire::FsWriteFile>(InSandbox(sandbox_, std::move(params))));
}

loop::Task<Result<wire::FsGetMetadataResult>> Files::Metadata(std::string path) {
  return session_->Call<wire::FsGetMetadata>(InSandbox(sandbox_, Follow(session_->traits().PathText(path))));
}

loop::Task<Result<std::vector<wire::FsDirectoryEntry>>> Files::List(std::string path) {
  const auto session = session_;
  wire::FsPathParams params{.path = session->traits().PathText(path)};
  auto answer = co_await session->Call<wire::FsReadDirectory>(InSandbox(sandbox_, std::move(params)));
  if (!answer) co_return std::unexpected(std::move(answer).error());
  co_return std::move(answer->entries);
}

loop::Task<Result<>> Files::CreateDirectory(std::string path) {
  const auto session = session_;
  wire::FsCreateDirectoryParams params;
  params.path = session->traits().PathText(path);
  params.recursive = true;
  co_return Done(co_await session->Call<wire::FsCreateDirectory>(InSandbox(sandbox_, std::move(params))));
}

loop::Task<Result<>> Files::Remove(std::string path, Missing missing) {
  const auto session = session_;
  wire::FsRemoveParams params;
  params.path = session->traits().PathText(path);
  params.recursive = true;
  params.force = missing == Missing::kIsFine;
  co_return Done(co_await session->Call<wire::FsRemove>(InSandbox(sandbox_, std::move(params))));
}

loop::Task<Result<>> Files::Copy(std::string from, std::string to) {
  const auto session = session_;
  wire::FsCopyParams params;
  params.source_path = session->traits().PathText(from);
  params.destination_path = session->traits().PathText(to);
  params.recursive = true;
  co_return Done(co_await session->Call<wire::FsCopy>(InSandbox(sandbox_, std::move(params))));
}

loop::Task<Result<>> Files::Rename(std::string from, std::string to) {
  const auto session = session_;
  wire::FsRenameParams params;
  params.source_path = session->traits().PathText(from);
  params.destination_path = session->traits().PathText(to);
  co_return Done(co_await session->Call<wire::FsRename>(InSandbox(sandbox_, std::move(params))));
}

loop::Task<Result<std::string>> Files::Canonical(std::string path) {
  const auto session = session_;
  wire::FsPathParams params{.path = session->traits().PathText(path)};
  auto answer = co_await session->Call<wire::FsCanonicalize>(InSandbox(sandbox_, std::move(params)));
  if (!answer) co_return std::unexpected(std::move(answer).error());
  co_return ParsePath(answer->path);
}

loop::Task<Result<wire::FsWalkResult>> Files::Walk(std::string path, wire::FsWalkOptions options) {
  wire::FsWalkParams params;
  params.path = session_->traits().PathText(path);
  params.options = options;
  return session_->Call<wire::FsWalk>(InSandbox(sandbox_, std::move(params)));
}

loop::Task<Result<uint64_t>> Files::Download(std::string path, ByteSink sink, TransferOptions options) {
  return client::Download({session_, std::move(path), sandbox_}, std::move(sink), options);
}

loop::Task<Result<uint64_t>> Files::Upload(std::string path, ByteSource source, TransferOptions options) {
  return client::Upload({session_, std::move(path), sandbox_}, std::move(source), options);
}

}  // namespace holdfast::client
