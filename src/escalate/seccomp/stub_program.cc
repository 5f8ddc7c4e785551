#include "escalate/seccomp/stub_program.h"

#include <linux/capability.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <utility>

#include <fmt/format.h>

#include "escalate/caller/caller_view.h"
#include "escalate/stub/stub_image.h"
#include "sys/executable_image.h"

namespace holdfast::escalate {
namespace {

bool IsInOwnUserNamespace(pid_t process) {
  struct stat own, theirs;
  return ::stat("/proc/self/ns/user", &own) == 0 &&
         ::stat(fmt::format("/proc/{}/ns/user", process).c_str(), &theirs) == 0 && own.st_dev == theirs.st_dev &&
         own.st_ino == theirs.st_ino;
}

}  // namespace

Inspection InspectionOfStubs(pid_t first_caller) {
  constexpr uint64_t trace = uint64_t{1} << CAP_SYS_PTRACE;
  const auto own = ReadCallerState(::gettid());
  if (own && (own->capabilities & trace) != 0) return Inspection::kPossible;
  return IsInOwnUserNamespace(first_caller) ? Inspection::kRefused : Inspection::kPossible;
}

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

// An image that was changed is not a proof: the process may have executed it while it was readable.
bool StubProgram::IsExecutedBy(pid_t process, Inspection inspection) const {
  struct stat program, image;
  if (!IsIntact()) return false;
  if (::stat(fmt::format("/proc/{}/exe", process).c_str(), &program) != 0) {
    return inspection == Inspection::kRefused && (errno == EACCES || errno == EPERM);
  }
  return ::fstat(image_.get(), &image) == 0 && program.st_dev == image.st_dev && program.st_ino == image.st_ino;
}

}  // namespace holdfast::escalate
