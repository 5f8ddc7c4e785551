// Downloads and uploads of files in blocks, with several blocks under way at a time. Servers without the methods for
// that (before 0.142 for downloads, before 0.166 for uploads) get the whole file in one message.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "client/remote_file.h"
#include "loop/task.h"

namespace holdfast::client {

// Takes the bytes of a download, in order. A failure ends the download.
using ByteSink = std::function<Result<>(std::string_view bytes)>;
// Returns up to `max_bytes` bytes of an upload from `offset` on; empty at the end. After a reconnect an upload goes
// back to what the server has confirmed, so the source is asked for an offset and not for the next bytes.
using ByteSource = std::function<Result<std::string>(uint64_t offset, size_t max_bytes)>;

struct TransferOptions {
  uint64_t offset = 0;           // where the transfer begins; an upload keeps the file up to here, and cuts it off
  size_t blocks_at_once = 4;     // requests under way at a time
  size_t block_bytes = 1 << 20;  // at most 1 MiB
  std::optional<uint64_t> permissions = {};  // of the file that an upload makes, as in FileAttributes
};

// Sets the properties of a file, which is created if it is missing. Fails with kInvalidRequest if the server cannot.
loop::Task<Result<>> SetAttributes(RemoteFile file, FileAttributes attributes);

// Both return the number of bytes. An upload from an offset on fails with kInvalidRequest if the server cannot go on
// with a file, or if the file is shorter.
loop::Task<Result<uint64_t>> Download(RemoteFile file, ByteSink sink, TransferOptions options);
loop::Task<Result<uint64_t>> Upload(RemoteFile file, ByteSource source, TransferOptions options);

}  // namespace holdfast::client
