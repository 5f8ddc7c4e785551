#include "escalate/seccomp/stub_program.h"

#include <sys/stat.h>

#include <cerrno>
#include <utility>

#include <fmt/format.h>

#include "escalate/stub/stub_image.h"
#include "sys/executable_image.h"

namespace holdfast::escalate {

Result<StubProgram> StubProgram::Create() {
  TRY(OwnedFd image, sys::MakeExecutableImage("holdfast-exec-stub", StubImage(), sys::ImageMode::kOnlyExecutable));
  struct stat status;
  if (::fstat(image.get(), &status) != 0) return FailErrno("fstat", "memory file");
  return StubProgram(std::move(image), status.st_mode & ALLPERMS, status.st_ctim);
}

// A change that is taken back leaves a later time, except in the first milliseconds of the image, when no process has
// it yet.
bool StubProgram::IsIntact() const {
  struct stat status;
  if (::fstat(image_.get(), &status) != 0 || (status.st_mode & ALLPERMS) != mode_) return false;
  return status.st_ctim.tv_sec == made_.tv_sec && status.st_ctim.tv_nsec == made_.tv_nsec;
}

// A stub that is executed without capabilities cannot be inspected, and any program that can be inspected is not the
// stub. An image that was changed is no proof: the process may have executed it while it was readable.
bool StubProgram::IsExecutedBy(pid_t process) const {
  struct stat program, image;
  if (!IsIntact()) return false;
  if (::stat(fmt::format("/proc/{}/exe", process).c_str(), &program) != 0) return errno == EACCES || errno == EPERM;
  return ::fstat(image_.get(), &image) == 0 && program.st_dev == image.st_dev && program.st_ino == image.st_ino;
}

}  // namespace holdfast::escalate
