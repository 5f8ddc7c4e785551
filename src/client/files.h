// The files of the server. Each call names an absolute path, and the library writes it in the form that this server
// understands. Whole files travel in one message; Download and Upload move files of any size in blocks, several of them
// at a time. Everything happens on the loop's thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "client/connect_options.h"
#include "loop/task.h"
#include "wire/fs_messages.h"
#include "wire/fs_tree_messages.h"

namespace holdfast::client {

class Session;

// Takes the bytes of a download, in order. A failure ends the download.
using ByteSink = std::function<Result<>(std::string_view bytes)>;
// Returns up to `max_bytes` bytes of an upload from `offset` on; empty at the end. After a reconnect an upload begins
// again, so the source is asked for an offset and not for the next bytes.
using ByteSource = std::function<Result<std::string>(uint64_t offset, size_t max_bytes)>;

struct TransferOptions {
  uint64_t offset = 0;           // where a download begins
  size_t blocks_at_once = 4;     // requests under way at a time
  size_t block_bytes = 1 << 20;  // at most 1 MiB
};

class Files {
 public:
  // `sandbox` is the JSON of the `sandbox` member; empty: no sandbox.
  explicit Files(std::shared_ptr<Session> session, std::string sandbox = {});

  // The same files, with every operation in this sandbox.
  Files In(std::string sandbox) const { return Files(session_, std::move(sandbox)); }

  loop::Task<Result<std::string>> Read(std::string path);
  loop::Task<Result<>> Write(std::string path, std::string bytes);
  loop::Task<Result<wire::FsGetMetadataResult>> Metadata(std::string path);
  loop::Task<Result<std::vector<wire::FsDirectoryEntry>>> List(std::string path);
  loop::Task<Result<>> CreateDirectory(std::string path);  // with its parents; one that exists is no error
  enum class Missing { kIsError, kIsFine };
  loop::Task<Result<>> Remove(std::string path, Missing missing = Missing::kIsError);  // with everything in it
  loop::Task<Result<>> Copy(std::string from, std::string to);
  loop::Task<Result<>> Rename(std::string from, std::string to);
  loop::Task<Result<std::string>> Canonical(std::string path);  // returns a path
  loop::Task<Result<wire::FsWalkResult>> Walk(std::string path, wire::FsWalkOptions options);

  // Gives the whole file, from the offset on, to `sink`, and returns the number of bytes. After a reconnect the
  // download goes on where it was, unless the file has changed meanwhile.
  loop::Task<Result<uint64_t>> Download(std::string path, ByteSink sink, TransferOptions options = {});
  // Creates or replaces the file, and returns the number of bytes.
  loop::Task<Result<uint64_t>> Upload(std::string path, ByteSource source, TransferOptions options = {});

 private:
  std::shared_ptr<Session> session_;
  std::string sandbox_;
};

}  // namespace holdfast::client
