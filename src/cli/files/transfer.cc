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
#include "sys/io.h"

namespace holdfast::cli {
namespace {

constexpr mode_t kMode = 0666;  // minus the umask
constexpr std::string_view kPart = ".holdfast-part";

Result<> WriteAll(int fd, std::string_view bytes, const std::string& path) {
  while (!bytes.empty()) {
    const ssize_t n = sys::Write(fd, bytes.data(), bytes.size());
    if (n < 0) return FailErrno("write", path, static_cast<int>(-n));
    bytes.remove_prefix(static_cast<size_t>(n));
  }
  return {};
}

// Returns the size of a local file; nothing if there is none.
std::optional<uint64_t> SizeOf(const std::string& path) {
  struct stat status{};
  if (::stat(path.c_str(), &status) < 0 || !S_ISREG(status.st_mode)) return std::nullopt;
  return static_cast<uint64_t>(status.st_size);
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
  if (job.resuming == Resuming::kResume && SizeOf(job.to) == job.size) {
    progress.Add(job.size);
    co_return Result<>();
  }
  LocalPart part(job.to + std::string(kPart), job.resuming);
  auto file = OpenPart(part.path(), job.resuming);
  if (!file) co_return std::unexpected(file.error());
  client::TransferOptions options;
  if (job.resuming == Resuming::kResume) options.offset = SizeOf(part.path()).value_or(0);
  progress.Add(options.offset);
  const auto sink = [&](std::string_view bytes) -> Result<> {
    progress.Add(bytes.size());
    return WriteAll(file->get(), bytes, job.to);
  };
  auto copied = co_await files.Download(job.from, sink, options);
  if (!copied) co_return std::unexpected(std::move(copied).error());
  auto finished = Finish(*file, part.path(), job.to);
  if (finished) part.Keep();
  co_return finished;
}

loop::Task<Result<>> UploadFile(client::Files files, TransferJob job, ProgressBar& progress) {
  progress.Begin(job.from);
  if (job.resuming == Resuming::kResume) {
    const auto present = co_await files.Metadata(job.to);
    if (present && present->is_file && present->size == job.size) {
      progress.Add(job.size);
      co_return Result<>();
    }
  }
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
