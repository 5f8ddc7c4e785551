#include "sandbox/own_image.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/owned_fd.h"
#include "sandbox/flags.h"
#include "sandbox/jail/stage_image.h"
#include "sys/argv.h"
#include "sys/executable_image.h"
#include "sys/file_identity.h"
#include "sys/inherit.h"
#include "sys/memory_file.h"
#include "sys/own_program.h"

extern char** environ;

namespace holdfast::sandbox {
namespace {

constexpr const char* kOwnImage = "/proc/self/exe";

// The effective user is the one that counts: it is the only one that has a number inside of the sandbox.
bool MayChange(const struct stat& file) {
  return file.st_uid == ::geteuid() || ::faccessat(AT_FDCWD, kOwnImage, W_OK, AT_EACCESS) == 0;
}

Result<> CheckSealed(const struct stat& own, int sealed) {
  struct stat copy;
  if (::fstat(sealed, &copy) < 0) return FailErrno("fstat", fmt::format("descriptor {}", sealed));
  if (sys::IsSealed(sealed) && sys::IsSameFile(own, copy)) return {};
  return Fail(ErrorKind::kInvalidRequest,
              fmt::format("descriptor {} is not the program of this process in sealed memory", sealed));
}

// The descriptors for the program and its profile, which it inherits.
struct Passed {
  StageImage image;
  OwnedFd profile;
};

Result<Passed> Prepare(const std::string& profile) {
  TRY(StageImage image, StageImage::Create(std::nullopt));
  TRY_VOID(image.Complete());
  TRY_VOID(sys::LetInherit(image.fd()));
  TRY(OwnedFd text, sys::MakeMemoryFile("profile", profile));
  TRY_VOID(sys::LetInherit(text.get()));
  return Passed{std::move(image), std::move(text)};
}

// The descriptors of the command line became close-on-exec when they were read.
Result<> LetInheritAll(const SandboxedCommand& command) {
  for (const auto fd : {command.bubblewrap_fd, command.port_ruleset_fd, command.exec_supervisor_fd, command.kept_fd}) {
    if (fd) TRY_VOID(sys::LetInherit(*fd));
  }
  return {};
}

}  // namespace

Result<> CheckOwnImage(std::optional<int> sealed) {
  struct stat own;
  if (::stat(kOwnImage, &own) < 0) return FailErrno("stat", kOwnImage);
  if (sealed) return CheckSealed(own, *sealed);
  if (!MayChange(own)) return {};
  return Fail(ErrorKind::kInvalidRequest, "the command could change the program of the helper");
}

Error ExecuteSealedCopy(SandboxedCommand command, const std::string& profile, std::string_view called_as) {
  const auto passed = Prepare(profile);
  if (!passed) return passed.error();
  if (const auto inherited = LetInheritAll(command); !inherited) return inherited.error();
  if (command.program_directory.empty()) command.program_directory = sys::OwnDirectory();
  command.profile.reset();
  command.profile_fd = passed->profile.get();
  command.program_fd = passed->image.fd();
  std::vector<std::string> words = BuildFlags(command);
  words.insert(words.begin(), std::string(called_as));
  ::execveat(passed->image.fd(), "", sys::Argv(words).data(), environ, AT_EMPTY_PATH);
  return ErrnoError("execveat", "sealed copy of the helper", errno);
}

}  // namespace holdfast::sandbox
