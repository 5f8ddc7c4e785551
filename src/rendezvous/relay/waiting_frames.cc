#include "rendezvous/relay/waiting_frames.h"

#include <algorithm>
#include <utility>

#include "rendezvous/relay/frame_header.h"

namespace holdfast::rendezvous {
namespace {

constexpr size_t kHeaderBytes = 2;  // of a control frame

std::string ControlFrame(uint8_t opcode, std::string_view payload) {
  std::string frame{static_cast<char>(kLastFragment | opcode), static_cast<char>(payload.size())};
  return frame.append(payload);
}

}  // namespace

std::string PingFrame() { return ControlFrame(kPingFrame, ""); }

std::string CloseFrame(CloseCode code) {
  const auto number = std::to_underlying(code);
  return ControlFrame(kCloseFrame, std::string{static_cast<char>(number >> 8), static_cast<char>(number & 0xff)});
}

WaitingFrames::Outcome WaitingFrames::Add(std::string_view bytes, std::string& reply) {
  while (!bytes.empty()) {
    if ((OpcodeOf(rest_.empty() ? bytes.front() : rest_.front()) & kControlBit) == 0) return Outcome::kData;
    const size_t wanted = rest_.size() < kHeaderBytes ? kHeaderBytes : kHeaderBytes + PayloadBytes(rest_.data());
    const size_t taken = std::min(bytes.size(), wanted - rest_.size());
    rest_.append(bytes.substr(0, taken));
    bytes.remove_prefix(taken);
    if (rest_.size() < kHeaderBytes || rest_.size() < kHeaderBytes + PayloadBytes(rest_.data())) continue;
    const Outcome outcome = AnswerFrame(std::exchange(rest_, std::string()), reply);
    if (outcome != Outcome::kWaits) return outcome;
  }
  return Outcome::kWaits;
}

WaitingFrames::Outcome WaitingFrames::AnswerFrame(std::string_view frame, std::string& reply) {
  const std::string_view payload = frame.substr(kHeaderBytes);
  switch (OpcodeOf(frame.front())) {
    case kPingFrame:
      reply += ControlFrame(kPongFrame, payload);
      return Outcome::kWaits;
    case kPongFrame:
      ponged_ = true;
      return Outcome::kWaits;
    default:
      reply += ControlFrame(kCloseFrame, payload.substr(0, 2));  // the code without the reason
      return Outcome::kClosed;
  }
}

bool WaitingFrames::TakePong() { return std::exchange(ponged_, false); }

std::string WaitingFrames::TakeRest() { return std::exchange(rest_, std::string()); }

}  // namespace holdfast::rendezvous
