#include "client/files.h"

#include <span>
#include <utility>

#include "base/base64.h"
#include "base/file_uri.h"
#include "client/in_sandbox.h"
#include "client/session.h"

namespace holdfast::client {
namespace {

// The functions of Files are not tasks themselves: a task would use the Files object when it begins, and the object may
// be gone by then.

template <typename Method>
using ParamsOf = Result<typename Method::Params>;  // an error if the sandbox is none

template <typename Method>
loop::Task<Result<typename Method::Result>> Ask(std::shared_ptr<Session> session, ParamsOf<Method> params) {
  if (!params) co_return std::unexpected(std::move(params).error());
  co_return co_await session->Call<Method>(*std::move(params));
}

template <typename Method>
loop::Task<Result<>> Do(std::shared_ptr<Session> session, ParamsOf<Method> params) {
  const auto answer = co_await Ask<Method>(std::move(session), std::move(params));
  if (!answer) co_return std::unexpected(answer.error());
  co_return Result<>();
}

// Calls a method and returns the part of its result that `part` takes out.
template <typename Method, typename T>
loop::Task<Result<T>> Get(std::shared_ptr<Session> session, ParamsOf<Method> params,
                          Result<T> (*part)(typename Method::Result&&)) {
  auto answer = co_await Ask<Method>(std::move(session), std::move(params));
  if (!answer) co_return std::unexpected(std::move(answer).error());
  co_return part(*std::move(answer));
}

// The params of the request have a view of the encoded bytes.
loop::Task<Result<>> WriteWhole(std::shared_ptr<Session> session, ParamsOf<wire::FsWriteFile> params,
                                std::string bytes) {
  const std::string data = Base64Encode(std::as_bytes(std::span(bytes)));
  if (params) params->data_base64 = data;
  co_return co_await Do<wire::FsWriteFile>(std::move(session), std::move(params));
}

wire::FsFollowParams Follow(std::string path) {
  wire::FsFollowParams params;
  params.path = std::move(path);
  return params;
}

}  // namespace

Files::Files(std::shared_ptr<Session> session, std::string sandbox)
    : session_(std::move(session)), sandbox_(std::move(sandbox)) {}

std::string Files::PathText(const std::string& path) const { return session_->traits().PathText(path); }

loop::Task<Result<std::string>> Files::Read(const std::string& path) {
  return Get<wire::FsReadFile, std::string>(
      session_, client::InSandbox(sandbox_, Follow(PathText(path))),
      [](wire::FsReadFileResult&& result) -> Result<std::string> { return std::move(result.data).Take(); });
}

loop::Task<Result<>> Files::Write(const std::string& path, std::string bytes) {
  wire::FsWriteFileParams params;
  params.path = PathText(path);
  return WriteWhole(session_, client::InSandbox(sandbox_, std::move(params)), std::move(bytes));
}

loop::Task<Result<wire::FsGetMetadataResult>> Files::Metadata(const std::string& path) {
  return Ask<wire::FsGetMetadata>(session_, client::InSandbox(sandbox_, Follow(PathText(path))));
}

loop::Task<Result<Files::Entries>> Files::List(const std::string& path) {
  return Get<wire::FsReadDirectory, Entries>(
      session_, client::InSandbox(sandbox_, wire::FsPathParams{.path = PathText(path)}),
      [](wire::FsReadDirectoryResult&& result) -> Result<Entries> { return std::move(result.entries); });
}

loop::Task<Result<>> Files::CreateDirectory(const std::string& path) {
  wire::FsCreateDirectoryParams params;
  params.path = PathText(path);
  params.recursive = true;
  return Do<wire::FsCreateDirectory>(session_, client::InSandbox(sandbox_, std::move(params)));
}

loop::Task<Result<>> Files::Remove(const std::string& path, Missing missing) {
  wire::FsRemoveParams params;
  params.path = PathText(path);
  params.recursive = true;
  params.force = missing == Missing::kIsFine;
  return Do<wire::FsRemove>(session_, client::InSandbox(sandbox_, std::move(params)));
}

loop::Task<Result<>> Files::Copy(const std::string& from, const std::string& to) {
  wire::FsCopyParams params;
  params.source_path = PathText(from);
  params.destination_path = PathText(to);
  params.recursive = true;
  return Do<wire::FsCopy>(session_, client::InSandbox(sandbox_, std::move(params)));
}

loop::Task<Result<>> Files::Rename(const std::string& from, const std::string& to) {
  wire::FsRenameParams params;
  params.source_path = PathText(from);
  params.destination_path = PathText(to);
  return Do<wire::FsRename>(session_, client::InSandbox(sandbox_, std::move(params)));
}

loop::Task<Result<std::string>> Files::Canonical(const std::string& path) {
  return Get<wire::FsCanonicalize, std::string>(
      session_, client::InSandbox(sandbox_, wire::FsPathParams{.path = PathText(path)}),
      [](wire::FsCanonicalizeResult&& result) { return ParsePath(result.path); });
}

loop::Task<Result<wire::FsWalkResult>> Files::Walk(const std::string& path, wire::FsWalkOptions options) {
  wire::FsWalkParams params;
  params.path = PathText(path);
  params.options = options;
  return Ask<wire::FsWalk>(session_, client::InSandbox(sandbox_, std::move(params)));
}

loop::Task<Result<uint64_t>> Files::Download(std::string path, ByteSink sink, TransferOptions options) {
  return client::Download({session_, std::move(path), sandbox_}, std::move(sink), options);
}

loop::Task<Result<uint64_t>> Files::Upload(std::string path, ByteSource source, TransferOptions options) {
  return client::Upload({session_, std::move(path), sandbox_}, std::move(source), options);
}

loop::Task<Result<>> Files::SetAttributes(std::string path, FileAttributes attributes) {
  return client::SetAttributes({session_, std::move(path), sandbox_}, attributes);
}

bool Files::updates_files() const { return session_->traits().updates_files(); }

}  // namespace holdfast::client
