#include "exec_server/file_reader.h"

#include <memory>
#include <span>

#include <fmt/format.h>

#include "base/base64.h"

namespace holdfast::exec_server {
namespace {

// Files up to this size are read without asking for memory first.
constexpr size_t kUnbudgetedBytes = 1 << 20;

// A multiple of three, so that every block but the last encodes without padding; it and its base64 fit into the L2
// cache.
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

Error FileReader::TooLarge() const {
  return {ErrorKind::kInvalidRequest,
          fmt::format("file {}: more than {} bytes; fs/open reads files of any size", file_->path(), max_bytes_)};
}

Result<size_t> FileReader::operator()(std::string& json) {
  if (!file_) {
    TRY(file_, open_());
    if (file_->size() > max_bytes_) return std::unexpected(TooLarge());
    if (file_->size() > kUnbudgetedBytes) return Base64EncodedSize(file_->size());
  }
  TRY_VOID(Read(json));
  return 0;
}

// To the end of the file, whatever its size was said to be: files of /proc say zero, others grow meanwhile.
Result<> FileReader::Read(std::string& json) const {
  json.reserve(json.size() + Base64EncodedSize(file_->size()) + 64);
  json += R"({"dataBase64":")";
  const auto block = std::make_unique_for_overwrite<std::byte[]>(kBlockBytes);
  uint64_t offset = 0;
  for (size_t count = kBlockBytes; count == kBlockBytes;) {
    TRY(count, file_->ReadAt(offset, {block.get(), kBlockBytes}));
    offset += count;
    if (offset > max_bytes_) return std::unexpected(TooLarge());
    AppendBase64(json, {block.get(), count});
  }
  json += R"("})";
  return {};
}

}  // namespace holdfast::exec_server
