#include "cli/files/transfer.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "base/owned_fd.h"
#include "sys/write_all.h"

namespace holdfast::cli {
namespace {

constexpr mode_t kMode = 0666;  // minus the umask
constexpr std::string_view kPart = ".holdfast-part";

constexpr timespec TimeOf(int64_t ms) {
  const int64_t seconds = ms / 1000 - (ms % 1000 < 0 ? 1 : 0);
  return {.tv_sec = seconds, .tv_nsec = (ms - seconds * 1000) * 1'000'000};
}

// Returns whether an earlier copy with kResume has made the whole file. The size alone says little: most files of a
// fixed format have the same one.
bool IsComplete(const TransferJob& job) {
  struct stat status{};
  if (::stat(job.to.c_str(), &status) < 0 || !S_ISREG(status.st_mode)) return false;
  const timespec time = TimeOf(job.modified_at_ms);
  return static_cast<uint64_t>(status.st_size) == job.size && status.st_mtim.tv_sec == time.tv_sec &&
         status.st_mtim.tv_nsec == time.tv_nsec;
}

std::string PartOf(const TransferJob& job) {
  if (job.resuming == Resuming::kNo) return fmt::format("{}{}", job.to, kPart);
  return fmt::format("{}.{}-{}{}", job.to, job.size, job.modified_at_ms, kPart);
}

// A part that is longer than the file is not a part of it, and is begun again.
Result<uint64_t> BeginPart(int part, const TransferJob& job) {
  struct stat status{};
  if (::fstat(part, &status) < 0) return FailErrno("stat", job.to);
  if (static_cast<uint64_t>(status.st_size) <= job.size) return static_cast<uint64_t>(status.st_size);
  if (::ftruncate(part, 0) < 0) return FailErrno("truncate", job.to);
  return 0;
}

Result<OwnedFd> OpenPart(const std::string& path, Resuming resuming) {
  const int flags = resuming == Resuming::kResume ? O_APPEND : O_TRUNC;
  OwnedFd file(::open(path.c_str(), O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC | flags, kMode));
  if (!file.is_open()) return FailErrno("open", path);
  return file;
}

Result<> Finish(OwnedFd& file, const std::string& part, const std::string& path) {
  if (::close(file.Release()) < 0) return FailErrno("write", part);  // some file systems report a full disk here
  if (::rename(part.c_str(), path.c_str()) < 0) return FailErrno("rename", path);
  return {};
}

// Gives the part the time of its source, if the source is still the version that the name of the part tells of.
loop::Task<Result<>> Confirm(client::Files files, int part, TransferJob job) {
  struct stat status{};
  if (::fstat(part, &status) < 0) co_return FailErrno("stat", job.to);
  auto source = co_await files.Metadata(job.from);
  if (!source) co_return std::unexpected(std::move(source).error());
  const bool unchanged = source->size == job.size && source->modified_at_ms == job.modified_at_ms;
  if (!unchanged || static_cast<uint64_t>(status.st_size) != job.size) {
    co_return Fail(ErrorKind::kInvalidRequest, fmt::format("{} has changed while it was copied", job.from));
  }
  const timespec times[] = {{.tv_sec = 0, .tv_nsec = UTIME_OMIT}, TimeOf(job.modified_at_ms)};
  if (::futimens(part, times) < 0) co_return FailErrno("utimensat", job.to);
  co_return Result<>();
}

// Removes the part when the transfer ends without a success, also if its task is destroyed.
class LocalPart {
 public:
  LocalPart(std::string path, Resuming resuming) : path_(std::move(path)), kept_(resuming == Resuming::kResume) {}
  ~LocalPart() {
    if (!kept_) ::unlink(path_.c_str());
  }
  LocalPart(const LocalPart&) = delete;
  LocalPart& operator=(const LocalPart&) = delete;

  const std::string& path() const { return path_; }
  void Keep() { kept_ = true; }
  void Drop() { kept_ = false; }

 private:
  std::string path_;
  bool kept_;
};

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

}  // namespace

loop::Task<Result<>> DownloadFile(client::Files files, TransferJob job, ProgressBar& progress) {
  progress.Begin(job.to);
  const bool resumes = job.resuming == Resuming::kResume;
  if (resumes && IsComplete(job)) {
    progress.Add(job.size);
    co_return Result<>();
  }
  LocalPart part(PartOf(job), job.resuming);
  auto file = OpenPart(part.path(), job.resuming);
  if (!file) co_return std::unexpected(file.error());
  const auto offset = BeginPart(file->get(), job);
  if (!offset) co_return std::unexpected(offset.error());
  progress.Add(*offset);
  const auto sink = [&](std::string_view bytes) -> Result<> {
    progress.Add(bytes.size());
    const int error = sys::WriteAll(file->get(), bytes);
    return error == 0 ? Result<>() : FailErrno("write", job.to, error);
  };
  client::TransferOptions options;
  options.offset = *offset;
  auto copied = co_await files.Download(job.from, sink, options);
  if (!copied) co_return std::unexpected(std::move(copied).error());
  auto finished = resumes ? co_await Confirm(files, file->get(), job) : Result<>();
  if (finished) finished = Finish(*file, part.path(), job.to);
  if (finished) part.Keep();
  if (!finished && finished.error().kind == ErrorKind::kInvalidRequest) part.Drop();  // it may mix two versions
  co_return finished;
}

loop::Task<Result<>> UploadFile(client::Files files, TransferJob job, ProgressBar& progress) {
  progress.Begin(job.from);
  const OwnedFd file(::open(job.from.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.is_open()) co_return FailErrno("open", job.from);
  const std::string part = job.to + std::string(kPart);
  const auto source = [&](uint64_t offset, size_t max_bytes) -> Result<std::string> {
    auto block = ReadAt(file.get(), offset, max_bytes, job.from);
    if (block) progress.Add(block->size());
    return block;
  };
  auto copied = co_await files.Upload(part, source);
  auto outcome = copied ? co_await files.Rename(part, job.to) : Result<>(std::unexpected(copied.error()));
  if (!outcome)
    (void)co_await files.Remove(part, client::Files::Missing::kIsFine);  // the first error is the one to tell
  co_return outcome;
}

}  // namespace holdfast::cli
