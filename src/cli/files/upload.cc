#include "cli/files/upload.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "base/file_time.h"
#include "base/owned_fd.h"

namespace holdfast::cli {
namespace {

constexpr uint64_t kTailBytes = 256u << 10;

Result<std::string> ReadAt(int fd, uint64_t offset, size_t max_bytes, const std::string& path) {
  std::string block(max_bytes, '\0');
  size_t filled = 0;
  while (filled < max_bytes) {
    const ssize_t n = ::pread(fd, block.data() + filled, max_bytes - filled, static_cast<off_t>(offset + filled));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return FailErrno("read", path);
    if (n == 0) break;
    filled += static_cast<size_t>(n);
  }
  block.resize(filled);
  return block;
}

// Returns whether an earlier copy with kResume has made the whole file.
loop::Task<bool> IsComplete(client::Files files, TransferJob job) {
  const auto there = co_await files.Metadata(job.to);
  co_return there && there->is_file&& job.IsSource(there->size, there->modified_at_ms);
}

// Returns whether the last bytes of the part are those of the source. The server writes in order, so the part is a
// beginning of the source; but the machine of the server may have crashed before everything was on its disk.
loop::Task<Result<bool>> HasSameTail(client::Files files, int source, TransferJob job, uint64_t part_size) {
  client::TransferOptions options;
  options.offset = part_size - std::min(part_size, kTailBytes);
  auto expected = ReadAt(source, options.offset, part_size - options.offset, job.from);
  if (!expected) co_return std::unexpected(std::move(expected).error());
  bool same = true;
  std::string_view rest = *expected;
  const auto compare = [&](std::string_view bytes) -> Result<> {
    same = same && rest.starts_with(bytes);
    rest.remove_prefix(std::min(rest.size(), bytes.size()));
    return {};
  };
  const auto read = co_await files.Download(PartOf(job), compare, options);
  if (!read) co_return std::unexpected(read.error());
  if (!rest.empty()) same = false;
  co_return same;
}

// Returns how much of the source an earlier copy has left in its part. What is not a beginning of the source is
// removed.
loop::Task<Result<uint64_t>> SizeOfPart(client::Files files, int source, TransferJob job) {
  const auto part = co_await files.Metadata(PartOf(job));
  if (!part && part.error().kind == ErrorKind::kNotFound) co_return 0;
  if (!part) co_return std::unexpected(part.error());
  if (part->is_file && !part->is_symlink && part->size <= job.size) {
    const auto same = co_await HasSameTail(files, source, job, part->size);
    if (!same) co_return std::unexpected(same.error());
    if (*same) co_return part->size;
  }
  auto removed = co_await files.Remove(PartOf(job), client::Files::Missing::kIsFine);
  if (!removed) co_return std::unexpected(std::move(removed).error());
  co_return 0;
}

// Checks that the source is still the version that was listed, and that all of it was copied.
Result<> CheckSource(int source, const TransferJob& job, uint64_t copied) {
  struct stat status{};
  if (::fstat(source, &status) < 0) return FailErrno("stat", job.from);
  const auto size = static_cast<uint64_t>(status.st_size);
  if (copied == job.size && job.IsSource(size, FileTimeMs(status.st_mtim))) return {};
  return Fail(ErrorKind::kInvalidRequest, fmt::format("{} has changed while it was copied", job.from));
}

// Gives the part the properties of its source, as far as it does not have them, and then its name.
loop::Task<Result<>> Finish(client::Files files, TransferJob job) {
  client::FileAttributes attributes;
  if ((job.permissions.value_or(0) & kPartPermissions) != kPartPermissions) attributes.permissions = job.permissions;
  if (job.keeps_time()) attributes.modified_at_ms = job.modified_at_ms;
  if (files.updates_files() && (attributes.permissions || attributes.modified_at_ms)) {
    auto set = co_await files.SetAttributes(PartOf(job), attributes);
    if (!set) co_return set;
  }
  co_return co_await files.Rename(PartOf(job), job.to);
}

loop::Task<Result<>> Send(client::Files files, int source, TransferJob job, ProgressBar& progress) {
  client::TransferOptions options;
  if (job.permissions) options.permissions = *job.permissions | kPartPermissions;
  if (job.resumes()) {
    const auto there = co_await SizeOfPart(files, source, job);
    if (!there) co_return std::unexpected(there.error());
    options.offset = *there;
    progress.Add(*there);
  }
  const auto read = [&](uint64_t offset, size_t max_bytes) -> Result<std::string> {
    auto block = ReadAt(source, offset, max_bytes, job.from);
    if (block) progress.Add(block->size());
    return block;
  };
  auto copied = co_await files.Upload(PartOf(job), read, options);
  if (!copied) co_return std::unexpected(std::move(copied).error());
  auto checked = job.resumes() ? CheckSource(source, job, options.offset + *copied) : Result<>();
  if (!checked) {
    (void)co_await files.Remove(PartOf(job), client::Files::Missing::kIsFine);  // it may mix two versions
    co_return checked;
  }
  co_return co_await Finish(files, job);
}

}  // namespace

loop::Task<Result<>> UploadFile(client::Files files, TransferJob job, ProgressBar& progress) {
  progress.Begin(job.from);
  if (!files.updates_files()) job.resuming = Resuming::kNo;
  const OwnedFd source(::open(job.from.c_str(), O_RDONLY | O_CLOEXEC));
  if (!source.is_open()) co_return FailErrno("open", job.from);
  if (job.resumes() && co_await IsComplete(files, job)) {
    progress.Add(job.size);
    co_return Result<>();
  }
  auto outcome = co_await Send(files, source.get(), job, progress);
  if (outcome || job.resumes()) co_return outcome;
  const auto removed = co_await files.Remove(PartOf(job), client::Files::Missing::kIsFine);
  if (!removed) outcome.error().message += "; " + LeftText(PartOf(job));
  co_return outcome;
}

}  // namespace holdfast::cli
