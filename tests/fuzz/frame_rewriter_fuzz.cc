// Whatever a peer sends, and however it is cut into pieces, the rewriter returns whole or begun frames without masks,
// in an order that RFC 6455 allows, whose payloads are those of the peer. The first byte of the input chooses the cuts.
// A plain decoder, which reads the whole input at once, says what is expected.
#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/check.h"
#include "rendezvous/relay/frame_cursor.h"
#include "rendezvous/relay/frame_rewriter.h"

namespace {

using namespace holdfast;

constexpr uint64_t kMaxFrameBytes = 70'000;

uint8_t ByteAt(std::string_view bytes, size_t at) { return static_cast<uint8_t>(bytes[at]); }

struct Expected {
  std::string frames;
  bool failed = false;
  bool closed = false;
};

// The frame at the beginning of the input, with a header of either form.
struct Header {
  size_t bytes;
  size_t length_bytes;
  uint64_t payload;
};

std::optional<Header> ReadHeader(std::string_view input) {
  if (input.size() < 2) return std::nullopt;
  Header header{.bytes = 6, .length_bytes = 0, .payload = static_cast<uint64_t>(ByteAt(input, 1) & 0x7f)};
  if (header.payload >= 126) {
    header.length_bytes = header.payload == 126 ? 2 : 8;
    header.bytes += header.length_bytes;
    header.payload = 0;
  }
  if (input.size() < header.bytes) return std::nullopt;
  for (size_t i = 0; i < header.length_bytes; ++i) header.payload = header.payload * 256 + ByteAt(input, 2 + i);
  return header;
}

bool IsValid(std::string_view input, const Header& header, bool& in_message) {
  const int opcode = ByteAt(input, 0) & 0xf;
  const bool fin = ByteAt(input, 0) >= 0x80;
  if ((ByteAt(input, 0) & 0x70) != 0 || ByteAt(input, 1) < 0x80) return false;
  if (header.length_bytes == 2 && header.payload < 126) return false;
  if (header.length_bytes == 8 && header.payload < 65'536) return false;
  if (header.payload > kMaxFrameBytes) return false;
  if (opcode >= 8) return opcode <= 10 && fin && header.payload < 126 && !(opcode == 8 && header.payload == 1);
  if (opcode > 2 || (opcode == 0) != in_message) return false;
  in_message = !fin;
  return true;
}

Expected Decode(std::string_view input) {
  Expected expected;
  for (bool in_message = false;;) {
    const auto header = ReadHeader(input);
    if (!header) return expected;
    expected.failed = !IsValid(input, *header, in_message);
    if (expected.failed) return expected;
    const bool is_close = (ByteAt(input, 0) & 0xf) == 8;
    const std::string_view mask = input.substr(header->bytes - 4, 4);
    std::string head(input.substr(0, header->bytes - 4));
    head[1] = static_cast<char>(head[1] & 0x7f);
    expected.frames += head;
    input.remove_prefix(header->bytes);
    const size_t count = std::min<uint64_t>(header->payload, input.size());
    for (size_t i = 0; i < count; ++i) expected.frames.push_back(static_cast<char>(input[i] ^ mask[i % 4]));
    input.remove_prefix(count);
    expected.closed = is_close && count == header->payload;
    if (expected.closed || count < header->payload) return expected;
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const std::string_view input(reinterpret_cast<const char*>(data) + 1, size - 1);
  const Expected expected = Decode(input);

  rendezvous::FrameRewriter rewriter(kMaxFrameBytes);
  rendezvous::FrameCursor cursor;
  std::string frames;
  unsigned seed = data[0];
  for (size_t at = 0; at < input.size();) {
    seed = seed * 1'103'515'245u + 12'345u;
    const size_t count = std::min<size_t>(input.size() - at, data[0] == 0 ? input.size() : (seed >> 16) % 40);
    std::string piece(rendezvous::FrameRewriter::kHeadroomBytes, '#');
    piece += input.substr(at, count);
    const std::string_view rewritten =
        rewriter.Rewrite(std::span(piece).subspan(rendezvous::FrameRewriter::kHeadroomBytes));
    CHECK(rewritten.data() >= piece.data() && rewritten.data() + rewritten.size() <= piece.data() + piece.size());
    frames += rewritten;
    cursor.Advance(rewritten);
    at += count;
    CHECK(std::string_view(expected.frames).starts_with(frames));
  }
  CHECK(frames == expected.frames);
  CHECK(rewriter.failure().has_value() == expected.failed);
  CHECK(rewriter.closed() == expected.closed && cursor.closed() == expected.closed);
  return 0;
}
