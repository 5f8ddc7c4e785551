#include "transport/web_socket_frames.h"

#include <memory>
#include <utility>

#include "transport/outbox.h"

namespace holdfast::transport {
namespace {

constexpr uint64_t kMax7BitLength = 125;
constexpr char k16BitLength = 126;
constexpr char k64BitLength = 127;

void AppendBigEndian(std::string& out, uint64_t value, int bytes) {
  for (int shift = (bytes - 1) * 8; shift >= 0; shift -= 8) out.push_back(static_cast<char>(value >> shift));
}

void AppendFragments(Outbox& outbox, std::string message, size_t frame_bytes) {
  const auto whole = std::make_shared<const std::string>(std::move(message));
  Opcode opcode = Opcode::kText;
  for (std::string_view rest = *whole; !rest.empty();) {
    const std::string_view payload = rest.substr(0, frame_bytes);
    rest.remove_prefix(payload.size());
    outbox.AppendCopy(FrameHeader(opcode, rest.empty() ? Fragment::kLast : Fragment::kMoreFollow, payload.size()));
    outbox.AppendPart(whole, payload);
    opcode = Opcode::kContinuation;
  }
}

}  // namespace

std::string FrameHeader(Opcode opcode, Fragment fragment, uint64_t payload_bytes) {
  std::string header(1, static_cast<char>(std::to_underlying(opcode) | std::to_underlying(fragment)));
  if (payload_bytes <= kMax7BitLength) {
    header.push_back(static_cast<char>(payload_bytes));
  } else if (payload_bytes <= UINT16_MAX) {
    header.push_back(k16BitLength);
    AppendBigEndian(header, payload_bytes, 2);
  } else {
    header.push_back(k64BitLength);
    AppendBigEndian(header, payload_bytes, 8);
  }
  return header;
}

void AppendTextMessage(Outbox& outbox, std::string message, size_t frame_bytes) {
  if (message.size() > frame_bytes) return AppendFragments(outbox, std::move(message), frame_bytes);
  outbox.AppendCopy(FrameHeader(Opcode::kText, Fragment::kLast, message.size()));
  outbox.Append(std::move(message));
}

}  // namespace holdfast::transport
