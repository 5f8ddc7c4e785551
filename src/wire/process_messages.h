// Params and results of process/read and process/write, and the types that other process/* methods share with them.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "wire/encode.h"
#include "wire/process_end_messages.h"

namespace holdfast::wire {

enum class Stream { kStdout, kStderr, kPty };
template <>
struct EnumNames<Stream> {
  static constexpr std::array<std::pair<const char*, Stream>, 3> kNames{
      {{"stdout", Stream::kStdout}, {"stderr", Stream::kStderr}, {"pty", Stream::kPty}}};
};

// The params of every method that names a process and nothing else.
struct ProcessIdParams {
  std::string process_id;

  void Fields(auto& f) { f.Required("processId", process_id); }
};

struct ProcessReadParams {
  std::string process_id;
  std::optional<uint64_t> after_seq, max_bytes, wait_ms;

  void Fields(auto& f) {
    f.Required("processId", process_id);
    f.Optional("afterSeq", after_seq);
    f.Optional("maxBytes", max_bytes);
    f.Optional("waitMs", wait_ms);
  }
};

struct OutputChunk {
  uint64_t seq = 0;
  Stream stream = Stream::kStdout;
  Bytes chunk;

  void Fields(auto& f) {
    f.Required("seq", seq);
    f.Required("stream", stream);
    f.Required("chunk", chunk);
  }
};

// The output of a process that its server no longer keeps.
struct DroppedOutput {
  uint64_t seq = 0;    // the number of the last chunk of it
  uint64_t bytes = 0;  // the length of all of it

  void Fields(auto& f) {
    f.Required("seq", seq);
    f.Required("bytes", bytes);
  }
};

struct ProcessReadResult {
  std::vector<OutputChunk> chunks;
  uint64_t next_seq = 1;
  bool exited = false, closed = false, sandbox_denied = false;
  std::optional<int64_t> exit_code;
  std::optional<ProcessEnd> end;
  // A server always sends null. Clients fill this member in themselves when they lose the connection.
  std::optional<std::string> failure;
  std::optional<DroppedOutput> dropped;  // absent if the server keeps everything

  void Fields(auto& f) {
    f.Required("chunks", chunks);
    f.Required("nextSeq", next_seq);
    f.Required("exited", exited);
    f.Nullable("exitCode", exit_code);
    f.Required("closed", closed);
    f.Nullable("failure", failure);
    f.Optional("sandboxDenied", sandbox_denied);
    f.Optional("end", end);
    f.Optional("dropped", dropped);
  }
};

struct ProcessWriteParams {
  std::string process_id;
  std::string_view chunk;  // base64, a view of the message
  std::optional<std::string> write_id;

  void Fields(auto& f) {
    f.Required("processId", process_id);
    f.Required("chunk", chunk);
    f.Optional("writeId", write_id);
  }
};

// This server holds a write until the process has started; other servers answer kStarting.
enum class WriteStatus { kAccepted, kUnknownProcess, kStdinClosed, kStarting };
template <>
struct EnumNames<WriteStatus> {
  static constexpr std::array<std::pair<const char*, WriteStatus>, 4> kNames{
      {{"accepted", WriteStatus::kAccepted},
       {"unknownProcess", WriteStatus::kUnknownProcess},
       {"stdinClosed", WriteStatus::kStdinClosed},
       {"starting", WriteStatus::kStarting}}};
};

struct ProcessWriteResult {
  WriteStatus status = WriteStatus::kAccepted;

  void Fields(auto& f) { f.Required("status", status); }
};

}  // namespace holdfast::wire
