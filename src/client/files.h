// The files of the server. Each call names an absolute path, and the library writes it in the form that this server
// understands. Whole files travel in one message; Download and Upload move files of any size in blocks, several of them
// at a time. Everything happens on the loop's thread.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "client/connect_options.h"
#include "client/transfer.h"
#include "loop/task.h"
#include "wire/fs_messages.h"
#include "wire/fs_tree_messages.h"

namespace holdfast::client {

class Session;

class Files {
 public:
  using Entries = std::vector<wire::FsDirectoryEntry>;

  // `sandbox` is the JSON of the `sandbox` member; empty: no sandbox.
  explicit Files(std::shared_ptr<Session> session, std::string sandbox = {});

  // The same files, with every operation in this sandbox.
  Files InSandbox(std::string sandbox) const { return Files(session_, std::move(sandbox)); }

  loop::Task<Result<std::string>> Read(const std::string& path);
  loop::Task<Result<>> Write(const std::string& path, std::string bytes);
  loop::Task<Result<wire::FsGetMetadataResult>> Metadata(const std::string& path);
  loop::Task<Result<Entries>> List(const std::string& path);
  loop::Task<Result<>> CreateDirectory(const std::string& path);  // with its parents; one that exists is not an error
  enum class Missing { kIsError, kIsFine };
  loop::Task<Result<>> Remove(const std::string& path, Missing missing = Missing::kIsError);  // with everything in it
  loop::Task<Result<>> Copy(const std::string& from, const std::string& to);
  loop::Task<Result<>> Rename(const std::string& from, const std::string& to);
  loop::Task<Result<std::string>> Canonical(const std::string& path);  // returns a path
  loop::Task<Result<wire::FsWalkResult>> Walk(const std::string& path, wire::FsWalkOptions options);

  // Gives the whole file, from the offset on, to `sink`, and returns the number of bytes. After a reconnect the
  // download goes on where it was, unless the file has changed meanwhile.
  loop::Task<Result<uint64_t>> Download(std::string path, ByteSink sink, TransferOptions options = {});
  // Creates or replaces the file, or goes on behind the offset, and returns the number of bytes. A failed upload leaves
  // behind what was written. If `updates_files` is true, that is the beginning of the source, without a gap, and an
  // upload goes on after a reconnect; otherwise it begins again.
  loop::Task<Result<uint64_t>> Upload(std::string path, ByteSource source, TransferOptions options = {});

  loop::Task<Result<>> SetAttributes(std::string path, FileAttributes attributes);
  // Whether the server takes an offset and permissions for an upload, and SetAttributes. Published servers do not.
  bool updates_files() const;

 private:
  std::string PathText(const std::string& path) const;

  std::shared_ptr<Session> session_;
  std::string sandbox_;
};

}  // namespace holdfast::client
