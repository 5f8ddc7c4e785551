// These functions encode the notifications that the server sends. Output is the hot path, so a message is written in
// one pass, with its base64 in place and without Fields(), and a client can read it without the JSON parser. Tests
// compare both with the plain Encoder and Decoder.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "wire/encode.h"
#include "wire/process_end_messages.h"
#include "wire/process_messages.h"

namespace holdfast::wire {

// `quoted_id` is the process id as a JSON string with its quotes, which is the same for every message of a process.
std::string OutputNotification(std::string_view quoted_id, uint64_t seq, Stream stream, std::string_view bytes);

// The parts of a process/output message, as views of the message.
struct OutputFrame {
  std::string_view process_id;
  uint64_t seq = 0;
  Stream stream = Stream::kStdout;
  std::string_view chunk;  // base64 that has not been checked
};

// Recognizes a message as OutputNotification writes it. Returns nothing for any other message, and for one whose
// process id is not plain ASCII; the parser then has to read it.
std::optional<OutputFrame> ReadOutputFrame(std::string_view message);

struct Exit {
  uint64_t seq = 0;
  int exit_code = 0;
  bool sandbox_denied = false;
  std::optional<ProcessEnd> end = {};
};
std::string ExitedNotification(std::string_view quoted_id, const Exit& exit);
std::string ClosedNotification(std::string_view quoted_id, uint64_t seq);
std::string StartedNotification(std::string_view quoted_id, int64_t pid);
std::string FailedNotification(std::string_view quoted_id, std::string_view message);

std::string MissingChangedNotification(uint64_t watch_id);

// Encodes one piece of a streamed body. The last piece is empty; if the body is incomplete, `error` tells why.
enum class BodyPart { kMore, kLast };
std::string BodyDeltaNotification(std::string_view request_id, uint64_t seq, std::string_view bytes, BodyPart part,
                                  const std::optional<std::string>& error);

// Encodes any notification of methods.h, with the plain Encoder.
template <typename Type>
std::string EncodeNotification(typename Type::Params params) {
  std::string message = R"({"method":")";
  message += Type::kName;
  message += R"(","params":)";
  Encoder(message).Value(params);
  message += '}';
  return message;
}

}  // namespace holdfast::wire
