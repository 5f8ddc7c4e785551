#include "transport/web_socket_frames.h"

#include <algorithm>
#include <memory>
#include <span>
#include <utility>

#include "transport/outbox.h"

namespace holdfast::transport {
namespace {

constexpr uint64_t kMax7BitLength = 125;
constexpr char k16BitLength = 126;
constexpr char k64BitLength = 127;
constexpr int kMaskedBit = 0x80;

void AppendBigEndian(std::string& out, uint64_t value, int bytes) {
  for (int shift = (bytes - 1) * 8; shift >= 0; shift -= 8) out.push_back(static_cast<char>(value >> shift));
}

}  // namespace

std::string FrameHeader(Opcode opcode, Fragment fragment, uint64_t payload_bytes, std::optional<FrameMask> mask) {
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
  if (mask) {
    header[1] = static_cast<char>(header[1] | kMaskedBit);
    header.append(mask->data(), mask->size());
  }
  return header;
}

FrameWriter::FrameWriter(Outbox& outbox, Role role, size_t max_payload_bytes)
    : outbox_(outbox), max_payload_bytes_(max_payload_bytes) {
  if (role == Role::kClient) masks_.emplace();
}

void FrameWriter::AppendText(std::string message) {
  if (message.size() > max_payload_bytes_) return AppendFragments(std::move(message));
  AppendHeader(Opcode::kText, Fragment::kLast, message);
  outbox_.Append(std::move(message));
}

void FrameWriter::AppendFragments(std::string message) {
  const auto whole = std::make_shared<std::string>(std::move(message));
  Opcode opcode = Opcode::kText;
  for (std::span<char> rest = *whole; !rest.empty();) {
    const std::span<char> payload = rest.first(std::min(rest.size(), max_payload_bytes_));
    rest = rest.subspan(payload.size());
    AppendHeader(opcode, rest.empty() ? Fragment::kLast : Fragment::kMoreFollow, payload);
    outbox_.AppendPart(whole, std::string_view(payload.data(), payload.size()));
    opcode = Opcode::kContinuation;
  }
}

void FrameWriter::AppendEmptyPing() { AppendHeader(Opcode::kPing, Fragment::kLast, {}); }

// Masks the payload in place in the role of the client.
void FrameWriter::AppendHeader(Opcode opcode, Fragment fragment, std::span<char> payload) {
  std::optional<FrameMask> mask;
  if (masks_) {
    mask = masks_->Next();
    ApplyMask(payload, *mask);
  }
  outbox_.AppendCopy(FrameHeader(opcode, fragment, payload.size(), mask));
}

}  // namespace holdfast::transport
