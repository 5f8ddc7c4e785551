// The files a connection has open, under the ids its client chose.
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

// Its file is opened, used and closed by workers, one after the other where they change it.
struct FileHandle {
  std::string path;
  wire::FsOpenMode mode;
  std::optional<files::File> file;  // absent before it is opened and after it is closed
};

class FileHandles {
 public:
  static constexpr size_t kMaxHandles = 128;
  static constexpr size_t kMaxIdBytes = 32;

  explicit FileHandles(loop::WorkerPool& workers) : workers_(workers) {}
  ~FileHandles();  // leaves it to a worker to close what is open
  FileHandles(const FileHandles&) = delete;
  FileHandles& operator=(const FileHandles&) = delete;

  // kInvalidRequest for an id that is too long.
  static Result<> CheckId(const std::string& id);

  // Takes the id before the file is open, so that requests that follow find it.
  Result<std::shared_ptr<FileHandle>> Reserve(const std::string& id, std::string path, wire::FsOpenMode mode);

  // kNotFound when there is none.
  Result<std::shared_ptr<FileHandle>> Find(const std::string& id) const;

  // Forgets the id if it still stands for this handle.
  void Forget(const std::string& id, const FileHandle& handle);
  // The same, and leaves it to a worker to close the file.
  void Discard(const std::string& id, std::shared_ptr<FileHandle> handle);

 private:
  loop::WorkerPool& workers_;
  std::map<std::string, std::shared_ptr<FileHandle>> handles_;
};

}  // namespace holdfast::exec_server
