#include "exec_server/files/file_handles.h"

#include <utility>

#include <fmt/format.h>

namespace holdfast::exec_server {

// Closing a file of a network mount may wait until the file server has the written data, so workers close the files.
FileHandles::~FileHandles() {
  if (!handles_.empty()) workers_.Run([handles = std::move(handles_)]() mutable { handles.clear(); }, [] {});
}

Result<> FileHandles::CheckId(const std::string& id) {
  if (id.size() <= kMaxIdBytes) return {};
  return Fail(ErrorKind::kInvalidRequest, fmt::format("handleId: longer than {} bytes", kMaxIdBytes));
}

Result<std::shared_ptr<FileHandle>> FileHandles::Reserve(const std::string& id, std::string path,
                                                         wire::FsOpenMode mode) {
  TRY_VOID(CheckId(id));
  if (handles_.contains(id)) return Fail(ErrorKind::kInvalidRequest, fmt::format("file handle {} is open already", id));
  if (handles_.size() >= kMaxHandles) {
    return Fail(ErrorKind::kLimit, fmt::format("the limit of {} open files per connection is reached", kMaxHandles));
  }
  auto handle = std::make_shared<FileHandle>(std::move(path), mode);
  handles_.emplace(id, handle);
  return handle;
}

Result<std::shared_ptr<FileHandle>> FileHandles::Find(const std::string& id) const {
  TRY_VOID(CheckId(id));
  auto it = handles_.find(id);
  if (it == handles_.end()) return Fail(ErrorKind::kNotFound, fmt::format("unknown file handle {}", id));
  return it->second;
}

void FileHandles::Forget(const std::string& id, const FileHandle& handle) {
  auto it = handles_.find(id);
  if (it != handles_.end() && it->second.get() == &handle) handles_.erase(it);
}

void FileHandles::Discard(const std::string& id, std::shared_ptr<FileHandle> handle) {
  Forget(id, *handle);
  workers_.Run([handle = std::move(handle)]() mutable { handle.reset(); }, [] {});
}

}  // namespace holdfast::exec_server
