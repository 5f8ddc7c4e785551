#include "rendezvous/token_file.h"

#include <sys/stat.h>

#include <utility>

#include "auth/secret_file.h"

namespace holdfast::rendezvous {
namespace {

constexpr size_t kMaxFileBytes = 1u << 20;

FileVersion VersionOf(const std::string& path) {
  struct stat status{};
  if (::stat(path.c_str(), &status) < 0) return {};
  return {.device = status.st_dev,
          .inode = status.st_ino,
          .size = status.st_size,
          .changed_s = status.st_ctim.tv_sec,
          .changed_ns = status.st_ctim.tv_nsec};
}

Result<TokenTable> ReadTable(const std::string& path) {
  TRY(const auth::GuardedText file, auth::ReadGuardedFile(path, kMaxFileBytes));
  return TokenTable::Parse(file.text, path);
}

}  // namespace

TokenReading ReadTokenFile(const std::string& path) {
  const FileVersion version = VersionOf(path);
  return {.version = version, .table = ReadTable(path)};
}

std::optional<TokenReading> ReadIfChanged(const std::string& path, const FileVersion& version) {
  if (VersionOf(path) == version) return std::nullopt;
  TokenReading reading = ReadTokenFile(path);
  if (VersionOf(path) != reading.version) return std::nullopt;
  return reading;
}

}  // namespace holdfast::rendezvous
