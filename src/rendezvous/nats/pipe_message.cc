#include "rendezvous/nats/pipe_message.h"

#include <fmt/format.h>

namespace holdfast::rendezvous {
namespace {

using Kind = PipeMessage::Kind;

constexpr size_t kNumberBytes = 8;

void AppendNumber(std::string& text, uint64_t number) {
  for (int shift = 56; shift >= 0; shift -= 8) text += static_cast<char>(number >> shift & 0xff);
}

uint64_t NumberAt(std::string_view text, size_t offset) {
  uint64_t number = 0;
  for (const char byte : text.substr(offset, kNumberBytes)) number = number << 8 | static_cast<unsigned char>(byte);
  return number;
}

std::unexpected<Error> NotAMessage(std::string_view reason) {
  return Fail(ErrorKind::kInvalidRequest, fmt::format("message of a pipe: {}", reason));
}

}  // namespace

std::string EncodePipeMessage(const PipeMessage& message) {
  std::string text;
  text.reserve(kPipeHeaderBytes + message.bytes.size() + kNumberBytes);
  text += static_cast<char>(message.kind);
  AppendNumber(text, message.number);
  if (message.kind == Kind::kData) text += message.bytes;
  if (message.kind == Kind::kConsumed) AppendNumber(text, message.consumed);
  return text;
}

Result<PipeMessage> DecodePipeMessage(std::string_view text) {
  if (text.size() < kPipeHeaderBytes) return NotAMessage("it is too short");
  PipeMessage message{.kind = static_cast<Kind>(text[0]), .number = NumberAt(text, 1)};
  const std::string_view rest = text.substr(kPipeHeaderBytes);
  switch (message.kind) {
    case Kind::kData:
      if (rest.empty() || rest.size() > kMaxPipeData) return NotAMessage(fmt::format("{} bytes of data", rest.size()));
      message.bytes = rest;
      return message;
    case Kind::kConsumed:
      if (rest.size() != kNumberBytes) return NotAMessage("the cost is not a number");
      message.consumed = NumberAt(rest, 0);
      return message;
    case Kind::kEnd:
    case Kind::kAlive:
      if (!rest.empty()) return NotAMessage("it is too long");
      return message;
  }
  return NotAMessage("its kind is unknown");
}

}  // namespace holdfast::rendezvous
