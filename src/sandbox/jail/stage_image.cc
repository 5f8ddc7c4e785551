#include "sandbox/jail/stage_image.h"

#include <fcntl.h>

#include <utility>

#include <fmt/format.h>

#include "sandbox/plan/program_names.h"
#include "sys/executable_image.h"
#include "sys/io.h"

namespace holdfast::sandbox {

Result<StageImage> StageImage::Create(std::optional<int> sealed) {
  if (sealed) {
    if (!sys::IsSealed(*sealed)) {
      return Fail(ErrorKind::kInvalidRequest, fmt::format("descriptor {} is not a program in sealed memory", *sealed));
    }
    TRY(OwnedFd image, sys::Duplicate(*sealed));
    return StageImage(std::move(image), OwnedFd());
  }
  OwnedFd self(::open("/proc/self/exe", O_RDONLY | O_CLOEXEC));
  if (!self.is_open()) return FailErrno("open", "/proc/self/exe");
  TRY(OwnedFd image, sys::BeginExecutableCopy(kProgramName));
  return StageImage(std::move(image), std::move(self));
}

Result<> StageImage::Complete() {
  if (!source_.is_open()) return {};
  TRY_VOID(sys::FinishExecutableCopy(image_.get(), source_.get(), sys::ImageMode::kOnlyExecutable));
  source_.Reset();
  return {};
}

}  // namespace holdfast::sandbox
