#include "exec_server/sandbox_program.h"

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <system_error>
#include <utility>

#include "sandbox/program_name.h"
#include "sys/io.h"
#include "sys/memory_file.h"

namespace holdfast::exec_server {
namespace {

constexpr int kProfileFd = process::Wrapper::kFirstFd;
constexpr int kReportFd = kProfileFd + 1;

// Who removes mount points needs a few milliseconds, but may be kept from the processor for much longer.
constexpr std::chrono::milliseconds kCleanUpTime{2000};

// What the file helper needs to know of the server's surroundings.
process::Environment SmallEnvironment() {
  process::Environment environment;
  for (const char* name : {"PATH", "TMPDIR", "TMP", "TEMP"}) {
    if (const char* value = std::getenv(name)) environment.emplace_back(name, value);
  }
  return environment;
}

// The program looks every bare name up in the command's PATH.
std::string ProgramWord(const process::Command& command) {
  const bool is_to_be_found = command.search_path || command.program.contains('/');
  return is_to_be_found ? command.program : "./" + command.program;
}

}  // namespace

SandboxProgram SandboxProgram::Find(std::string tool_path) {
  std::error_code unknown;
  const auto self = std::filesystem::read_symlink("/proc/self/exe", unknown);
  return {(self.parent_path() / sandbox::kProgramName).string(), std::move(tool_path)};
}

Result<process::Command> SandboxProgram::Begin(const SandboxSpec& sandbox, const std::string& cwd) const {
  TRY(sys::Pipe report, sys::MakePipe(sys::OurEnd::kRead));
  TRY(OwnedFd profile, sys::MakeMemoryFile("profile", profile::ProfileText(sandbox.profile)));
  process::Command command;
  command.program = path_;
  command.cwd = cwd;
  command.argv = {sandbox::kProgramName,
                  "--sandbox-policy-cwd",
                  sandbox.policy_cwd,
                  "--command-cwd",
                  cwd,
                  "--tool-path",
                  tool_path_,
                  "--permission-profile-fd",
                  std::to_string(kProfileFd),
                  "--report-fd",
                  std::to_string(kReportFd)};
  for (const std::string& root : sandbox.project_roots)
    command.argv.insert(command.argv.end(), {"--project-root", root});
  if (sandbox.legacy_landlock) command.argv.emplace_back("--use-legacy-landlock");
  if (sandbox.proxy_only) command.argv.emplace_back("--allow-network-for-proxy");
  // Without rules about files nobody has mount points to remove.
  const bool leaves_something = sandbox.restricts_files() && !sandbox.legacy_landlock;
  command.wrapper = process::Wrapper{
      .fds = {std::make_shared<OwnedFd>(std::move(profile)), std::make_shared<OwnedFd>(std::move(report.write_end))},
      .report = std::make_shared<OwnedFd>(std::move(report.read_end)),
      .grace = leaves_something ? kCleanUpTime : std::chrono::milliseconds(0)};
  return command;
}

Result<process::Command> SandboxProgram::Wrap(const process::Command& command, const SandboxSpec& sandbox) const {
  TRY(process::Command wrapped, Begin(sandbox, command.cwd));
  wrapped.env = command.env;
  std::vector<std::string> words = command.argv;
  if (const std::string program = ProgramWord(command); program != words[0]) {
    wrapped.argv.insert(wrapped.argv.end(), {"--arg0", words[0]});
    words[0] = program;
  }
  wrapped.argv.emplace_back("--");
  wrapped.argv.insert(wrapped.argv.end(), words.begin(), words.end());
  return wrapped;
}

Result<process::Command> SandboxProgram::FileHelper(const SandboxSpec& sandbox) const {
  TRY(process::Command helper, Begin(sandbox, "/"));
  helper.env = SmallEnvironment();
  helper.argv.emplace_back("--fs-helper");
  return helper;
}

}  // namespace holdfast::exec_server
