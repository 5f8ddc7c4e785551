#include "sandbox/helper_command/become_helper.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/owned_fd.h"
#include "base/result.h"
#include "sandbox/flags.h"
#include "sandbox/helper_command/sandbox_program.h"
#include "sandbox/plan/program_names.h"
#include "sandbox/policy/permission_profile.h"
#include "sys/argv.h"
#include "sys/file_identity.h"
#include "sys/inherit.h"
#include "sys/memory_file.h"

namespace holdfast::sandbox {
namespace {

// A link to `holdfast` in the place of the helper would make `holdfast` execute itself for ever.
bool IsRunningProgram(const std::string& path) {
  struct stat ours, theirs;
  return ::stat("/proc/self/exe", &ours) == 0 && ::stat(path.c_str(), &theirs) == 0 && sys::IsSameFile(ours, theirs);
}

Result<OwnedFd> InheritedProfile(const std::string& text) {
  TRY(OwnedFd file, sys::MakeMemoryFile("profile", text));
  TRY_VOID(sys::LetInherit(file.get()));
  return file;
}

}  // namespace

bool IsHelperName(std::string_view called_as) {
  return called_as == kProgramName || called_as == "codex-linux-sandbox";
}

Failure BecomeHelper(char* const* argv) {
  const std::string path = HelperPath();
  if (IsRunningProgram(path)) return {kInternal, fmt::format("{} is a link to holdfast, and not the helper", path)};
  ::execv(path.c_str(), argv);
  return {kInternal, fmt::format("{}. It is installed with holdfast, and has to be beside it",
                                 ErrnoError("exec", path, errno).message)};
}

Failure BecomeHelper(SandboxedCommand command, std::string_view called_as) {
  const auto profile = InheritedProfile(ProfileText(command.sandbox.profile));
  if (!profile) return {kInternal, profile.error().message};
  command.profile_fd = profile->get();
  std::vector<std::string> words = BuildFlags(command);
  words.insert(words.begin(), std::string(called_as));
  return BecomeHelper(sys::Argv(words).data());
}

}  // namespace holdfast::sandbox
