#include "files/disk/write_file.h"

#include <sys/stat.h>

#include <memory>
#include <string_view>

#include <fmt/format.h>

#include "base/sha256.h"
#include "files/disk/file.h"
#include "files/disk/replace_file.h"

namespace holdfast::files {
namespace {

Result<std::string> DigestOf(const File& file) {
  constexpr size_t kPieceBytes = 128u << 10;
  const auto buffer = std::make_unique_for_overwrite<std::byte[]>(kPieceBytes);
  Sha256 sha;
  uint64_t offset = 0;
  for (;;) {
    TRY(const size_t n, file.ReadAt(offset, {buffer.get(), kPieceBytes}));
    sha.Update({buffer.get(), n});
    if (n < kPieceBytes) return sha.HexDigest();
    offset += n;
  }
}

std::string_view Shortened(std::string_view digest) { return digest.substr(0, 12); }

Result<> CheckDigest(const File& file, const std::string& expected) {
  TRY(const std::string digest, DigestOf(file));
  if (digest == expected) return {};
  return Fail(ErrorKind::kInvalidRequest, fmt::format("path {}: sha256 is {}..., expected {}...", file.path(),
                                                      Shortened(digest), Shortened(expected)));
}

// The old content is overwritten and not truncated away first, because ext4 writes a file that was truncated to zero to
// the disk at once, which costs more than everything else. So a reader may see the new content followed by the end of
// the old one.
Result<> Overwrite(File& file, std::span<const std::byte> bytes) {
  size_t written = 0;
  if (auto outcome = file.WriteAt(0, bytes, &written); !outcome) {
    (void)file.Truncate(written);  // the error of the write is more useful than one of this call
    return outcome;
  }
  // The current size is needed, because another process may have appended to the file meanwhile.
  struct stat status;
  if (::fstat(file.fd(), &status) < 0) return FailErrno("fstat", file.path());
  if (static_cast<uint64_t>(status.st_size) > bytes.size()) TRY_VOID(file.Truncate(bytes.size()));
  return file.Close();
}

Result<> WriteInPlace(const std::string& path, std::span<const std::byte> bytes, const WriteOptions& options,
                      const GuardedNames& guarded) {
  if (!options.expected_sha256) {
    TRY(File file, File::OpenForWriting(path, options.symlinks, guarded));
    return Overwrite(file, bytes);
  }
  // A write by another process between the comparison and this write is lost: there is no lock that other programs
  // respect.
  TRY(File file, File::OpenForUpdate(path, options.symlinks, guarded));
  TRY_VOID(CheckDigest(file, *options.expected_sha256));
  return Overwrite(file, bytes);
}

Result<> WriteAtomically(const std::string& path, std::span<const std::byte> bytes, const WriteOptions& options,
                         const GuardedNames& guarded) {
  CheckCurrent check;
  if (options.expected_sha256) {
    check = [&](const File& current) { return CheckDigest(current, *options.expected_sha256); };
  }
  return ReplaceFile(path, bytes, options.symlinks, check, guarded);
}

}  // namespace

Result<> WriteFile(const std::string& path, std::span<const std::byte> bytes, const WriteOptions& options,
                   const GuardedNames& guarded) {
  auto outcome = options.replacement == Replacement::kAtomic ? WriteAtomically(path, bytes, options, guarded)
                                                             : WriteInPlace(path, bytes, options, guarded);
  if (outcome || outcome.error().kind != ErrorKind::kNotFound || !options.expected_sha256) return outcome;
  // The error is about the expected digest and not about the path: kNotFound would suggest to the client that it should
  // create the directories of the path.
  return Fail(ErrorKind::kInvalidRequest,
              fmt::format("path {}: does not exist, expected sha256 {}...", path, Shortened(*options.expected_sha256)));
}

}  // namespace holdfast::files
