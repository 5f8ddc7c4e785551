#include "cli/runs/log_lines.h"

#include <string_view>

#include "base/utf8.h"
#include "wire/encode.h"

namespace holdfast::cli {
namespace {

struct Line {
  uint64_t seq;
  wire::Stream stream;
  std::optional<std::string_view> text;
  std::optional<wire::Bytes> base64;

  void Fields(auto& f) {
    f.Required("seq", seq);
    f.Required("stream", stream);
    f.Optional("text", text);
    f.Optional("base64", base64);
  }
};

struct Range {
  uint64_t to_seq;
  std::optional<uint64_t> bytes;

  void Fields(auto& f) {
    f.Required("toSeq", to_seq);
    f.Optional("bytes", bytes);
  }
};

struct Notice {
  Range lost;

  void Fields(auto& f) { f.Required("lost", lost); }
};

}  // namespace

std::string ChunkLine(const wire::OutputChunk& chunk) {
  Line line{.seq = chunk.seq, .stream = chunk.stream, .text = {}, .base64 = {}};
  if (IsUtf8(chunk.chunk.view())) {
    line.text = chunk.chunk.view();
  } else {
    line.base64 = wire::Bytes{chunk.chunk.view()};
  }
  return wire::Encode(line);
}

std::string LostLine(const LostOutput& lost) { return wire::Encode(Notice{{lost.to_seq, lost.bytes}}); }

}  // namespace holdfast::cli
