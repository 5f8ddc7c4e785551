#include "cli/files/download.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "base/file_time.h"
#include "base/owned_fd.h"
#include "sys/permissions.h"
#include "sys/write_all.h"

namespace holdfast::cli {
namespace {

constexpr uint64_t kUsualPermissions = 0666;

// Returns whether an earlier copy with kResume has made the whole file. The size alone says little: most files of a
// fixed format have the same one.
bool IsComplete(const TransferJob& job) {
  struct stat status{};
  if (::stat(job.to.c_str(), &status) < 0 || !S_ISREG(status.st_mode)) return false;
  const timespec time = FileTime(job.modified_at_ms);
  return static_cast<uint64_t>(status.st_size) == job.size && status.st_mtim.tv_sec == time.tv_sec &&
         status.st_mtim.tv_nsec == time.tv_nsec;
}

// A part that is longer than the file is not a part of it, and is begun again.
Result<uint64_t> BeginPart(int part, const TransferJob& job) {
  struct stat status{};
  if (::fstat(part, &status) < 0) return FailErrno("stat", job.to);
  if (static_cast<uint64_t>(status.st_size) <= job.size) return static_cast<uint64_t>(status.st_size);
  if (::ftruncate(part, 0) < 0) return FailErrno("truncate", job.to);
  return 0;
}

Result<> SetPermissions(int part, uint64_t permissions, const TransferJob& job) {
  const int error = sys::SetPermissions(part, static_cast<mode_t>(permissions));
  if (error != 0) return FailErrno("chmod", job.to, error);
  return {};
}

// Opens the part. It has the permissions of its source from the beginning, so that other users never read what the
// source keeps from them.
Result<OwnedFd> OpenPart(const std::string& path, const TransferJob& job) {
  const int flags = O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC | (job.resumes() ? O_APPEND : O_TRUNC);
  const uint64_t permissions = job.permissions.value_or(kUsualPermissions) | kPartPermissions;
  OwnedFd file(::open(path.c_str(), flags, static_cast<mode_t>(permissions & 0777)));
  if (!file.is_open()) return FailErrno("open", path);
  if (job.permissions) TRY_VOID(SetPermissions(file.get(), permissions, job));
  return file;
}

Result<> Finish(OwnedFd& file, const std::string& part, const TransferJob& job) {
  if (job.permissions) TRY_VOID(SetPermissions(file.get(), *job.permissions, job));
  if (::close(file.Release()) < 0) return FailErrno("write", part);  // some file systems report a full disk here
  if (::rename(part.c_str(), job.to.c_str()) < 0) return FailErrno("rename", job.to);
  return {};
}

Result<> SetTime(int part, const TransferJob& job) {
  const timespec times[] = {{.tv_sec = 0, .tv_nsec = UTIME_OMIT}, FileTime(job.modified_at_ms)};
  if (::futimens(part, times) < 0) return FailErrno("utimensat", job.to);
  return {};
}

// Checks that the source is still the version that the name of the part means.
loop::Task<Result<>> Confirm(client::Files files, int part, TransferJob job) {
  struct stat status{};
  if (::fstat(part, &status) < 0) co_return FailErrno("stat", job.to);
  auto source = co_await files.Metadata(job.from);
  if (!source) co_return std::unexpected(std::move(source).error());
  const bool unchanged = job.IsSource(source->size, source->modified_at_ms);
  if (!unchanged || static_cast<uint64_t>(status.st_size) != job.size) {
    co_return Fail(ErrorKind::kInvalidRequest, fmt::format("{} has changed while it was copied", job.from));
  }
  co_return Result<>();
}

// Removes the part when the transfer ends without a success, also if its task is destroyed.
class LocalPart {
 public:
  explicit LocalPart(const TransferJob& job) : path_(PartOf(job)), kept_(job.resumes()) {}
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

}  // namespace

loop::Task<Result<>> DownloadFile(client::Files files, TransferJob job, ProgressBar& progress) {
  progress.Begin(job.to);
  if (job.resumes() && IsComplete(job)) {
    progress.Add(job.size);
    co_return Result<>();
  }
  LocalPart part(job);
  auto file = OpenPart(part.path(), job);
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
  auto finished = job.resumes() ? co_await Confirm(files, file->get(), job) : Result<>();
  if (finished && job.keeps_time()) finished = SetTime(file->get(), job);
  if (finished) finished = Finish(*file, part.path(), job);
  if (finished) part.Keep();
  if (!finished && finished.error().kind == ErrorKind::kInvalidRequest) part.Drop();  // it may mix two versions
  co_return finished;
}

}  // namespace holdfast::cli
