// The files that a connection has open, under the ids that its client chose.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "base/result.h"
#include "files/disk/file.h"
#include "loop/worker_pool.h"
#include "wire/fs_handle_messages.h"

namespace holdfast::exec_server {

// A file that a client opens, or has opened. Only workers open, use and close the file, and PathOrder keeps a worker
// that changes it away from all others.
struct FileHandle {
  std::string path;
  wire::FsOpenMode mode;
  std::optional<files::File> file;  // empty before the file is opened and after it is closed
};

class FileHandles {
 public:
  static constexpr size_t kMaxHandles = 128;
  static constexpr size_t kMaxIdBytes = 32;

  explicit FileHandles(loop::WorkerPool& workers) : workers_(workers) {}
  ~FileHandles();  // has a worker close the open files
  FileHandles(const FileHandles&) = delete;
  FileHandles& operator=(const FileHandles&) = delete;

  // Fails with kInvalidRequest if the id is too long.
  static Result<> CheckId(const std::string& id);

  // Makes a handle under the id before the file is open, so that the requests that follow find it.
  Result<std::shared_ptr<FileHandle>> Reserve(const std::string& id, std::string path, wire::FsOpenMode mode);

  // Fails with kNotFound if there is no such handle.
  Result<std::shared_ptr<FileHandle>> Find(const std::string& id) const;

  // Forgets the id if it still belongs to this handle.
  void Forget(const std::string& id, const FileHandle& handle);
  // Forgets the id as Forget does, and has a worker close the file.
  void Discard(const std::string& id, std::shared_ptr<FileHandle> handle);

 private:
  loop::WorkerPool& workers_;
  std::map<std::string, std::shared_ptr<FileHandle>> handles_;
};

}  // namespace holdfast::exec_server
