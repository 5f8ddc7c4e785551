#include "files/disk/directory_reader.h"

#include <dirent.h>

namespace holdfast::files {
namespace {

constexpr size_t kBufferBytes = 64u << 10;

bool IsDots(std::string_view name) { return name == "." || name == ".."; }

}  // namespace

Result<std::optional<RawEntry>> DirectoryReader::Next() {
  for (;;) {
    if (taken_ == filled_) {
      TRY_VOID(Fill());
      if (filled_ == 0) return std::nullopt;
    }
    const auto* entry = reinterpret_cast<const dirent64*>(buffer_.get() + taken_);
    taken_ += entry->d_reclen;
    const std::string_view name(static_cast<const char*>(entry->d_name));
    if (!IsDots(name)) return RawEntry{name, entry->d_type};
  }
}

Result<> DirectoryReader::Fill() {
  if (!buffer_) buffer_ = std::make_unique_for_overwrite<std::byte[]>(kBufferBytes);
  taken_ = filled_ = 0;
  const ssize_t n = ::getdents64(directory_.get(), buffer_.get(), kBufferBytes);
  if (n < 0) return FailErrno("getdents64", path_);
  filled_ = static_cast<size_t>(n);
  return {};
}

}  // namespace holdfast::files
