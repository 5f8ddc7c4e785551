#include "files/operations/file_reader.h"

#include <algorithm>
#include <memory>
#include <span>

#include <fmt/format.h>

#include "base/base64.h"

namespace holdfast::files {
namespace {

// The JSON around the base64 text has at most kFrameBytes, and the JSON behind it at most kTailBytes.
constexpr size_t kFrameBytes = 64;
constexpr size_t kTailBytes = 8;

// The length of a block is a multiple of three, so that every block but the last is encoded without padding. A block
// and its base64 text fit into the L2 cache together.
constexpr size_t kBlockBytes = 192 << 10;

void AppendBase64(std::string& out, std::span<const std::byte> bytes) {
  const size_t start = out.size();
  const size_t wanted = start + Base64EncodedSize(bytes.size());
  out.resize_and_overwrite(wanted, [&](char* data, size_t /*libstdc++ 12 passes the grown capacity*/) {
    Base64Encode(bytes, data + start);
    return wanted;
  });
}

}  // namespace

Error FileReader::TooLarge(const File& file) const {
  return {ErrorKind::kInvalidRequest,
          fmt::format("file {}: longer than {} bytes; use fs/open, which reads files of any size", file.path(),
                      max_bytes_)};
}

size_t FileReader::LongestAnswer() const { return *head_bytes_ + Base64EncodedSize(max_bytes_) + kFrameBytes; }

Result<size_t> FileReader::operator()(const File& file, std::string& json, size_t allowed) {
  if (!head_bytes_) {
    head_bytes_ = json.size();
    if (file.size() > max_bytes_) return std::unexpected(TooLarge(file));
    const size_t expected = *head_bytes_ + Base64EncodedSize(file.size()) + kFrameBytes;
    if (expected > allowed) return expected;
    json.reserve(expected);
  } else {
    json.resize(*head_bytes_);
    json.shrink_to_fit();
    json.reserve(allowed);
  }
  return Read(file, json, allowed);
}

// Reads to the end of the file, whatever its size was when it was opened: files in /proc have the size zero, and other
// files may grow meanwhile.
Result<size_t> FileReader::Read(const File& file, std::string& json, size_t allowed) const {
  json += R"({"dataBase64":")";
  const auto block = std::make_unique_for_overwrite<std::byte[]>(kBlockBytes);
  uint64_t offset = 0;
  for (size_t count = kBlockBytes; count == kBlockBytes;) {
    TRY(count, file.ReadAt(offset, {block.get(), kBlockBytes}));
    offset += count;
    if (offset > max_bytes_) return std::unexpected(TooLarge(file));
    // A string that must grow doubles its capacity.
    const size_t needed = json.size() + Base64EncodedSize(count) + kTailBytes;
    if (needed > json.capacity() && std::max(needed, 2 * json.capacity()) > allowed) {
      return std::min(std::max(needed, 2 * allowed), std::max(needed, LongestAnswer()));
    }
    AppendBase64(json, {block.get(), count});
  }
  json += R"("})";
  return 0;
}

}  // namespace holdfast::files
