#include "sandbox/helper_command/sealed_program.h"

#include <fcntl.h>

#include <optional>

#include "base/mutex.h"
#include "sandbox/plan/program_names.h"
#include "sys/executable_image.h"
#include "sys/thread.h"

namespace holdfast::sandbox {
namespace {

SealedProgram::Image CopyOf(int file) {
  TRY(OwnedFd image, sys::BeginExecutableCopy(kProgramName));
  TRY_VOID(sys::FinishExecutableCopy(image.get(), file, sys::ImageMode::kOnlyExecutable));
  return std::make_shared<const OwnedFd>(std::move(image));
}

}  // namespace

struct SealedProgram::Copy {
  void Finish(Image made) {
    const MutexLock lock(mutex);
    image = std::move(made);
    finished.NotifyAll();
  }

  Mutex mutex;
  Condition finished;
  std::optional<Image> image GUARDED_BY(mutex);  // does not change once it is there
};

SealedProgram::SealedProgram(Image image) : copy_(std::make_shared<Copy>()) { copy_->Finish(std::move(image)); }

SealedProgram SealedProgram::Begin(const std::string& path) {
  auto file = std::make_shared<const OwnedFd>(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file->is_open()) return SealedProgram(Image(FailErrno("open", path)));
  SealedProgram program(std::make_shared<Copy>());
  const auto copy = [file, target = program.copy_] { target->Finish(CopyOf(file->get())); };
  if (!sys::StartThread("seal", copy)) copy();  // where no thread can be made, the caller makes the copy
  return program;
}

const SealedProgram::Image& SealedProgram::Await() const {
  const MutexLock lock(copy_->mutex);
  copy_->finished.Wait(copy_->mutex, [this]() REQUIRES(copy_->mutex) { return copy_->image.has_value(); });
  return *copy_->image;
}

}  // namespace holdfast::sandbox
