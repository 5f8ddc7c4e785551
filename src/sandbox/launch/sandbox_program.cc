#include "sandbox/launch/sandbox_program.h"

#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "sandbox/jail/bubblewrap.h"
#include "sandbox/jail/bundled_bubblewrap.h"
#include "sandbox/plan/program_names.h"
#include "sys/executable_image.h"
#include "sys/io.h"
#include "sys/memory_file.h"
#include "sys/placeholder.h"
#include "wire/encode.h"

namespace holdfast::sandbox {
namespace {

// The process that removes mount points needs a few milliseconds, but may be kept from the processor for much longer.
constexpr std::chrono::milliseconds kCleanUpTime{2000};

// What the file helper needs to know of the server's surroundings.
process::Environment SmallEnvironment() {
  process::Environment environment;
  for (const char* name : {"PATH", "TMPDIR", "TMP", "TEMP"}) {
    if (const char* value = std::getenv(name)) environment.emplace_back(name, value);
  }
  return environment;
}

void Add(process::Command& command, std::initializer_list<std::string> words) {
  command.argv.insert(command.argv.end(), words);
}

// Has the wrapper find a descriptor, whose number the flag says.
int Pass(process::Command& command, const char* flag, std::shared_ptr<const OwnedFd> fd) {
  const int number = process::Wrapper::kFirstFd + static_cast<int>(command.wrapper->fds.size());
  command.wrapper->fds.push_back(std::move(fd));
  Add(command, {flag, std::to_string(number)});
  return number;
}

std::string Variable(const process::Environment& environment, std::string_view name) {
  const auto found = std::ranges::find(environment, name, &process::Environment::value_type::first);
  return found != environment.end() ? found->second : "";
}

}  // namespace

Result<std::shared_ptr<const OwnedFd>> SealProgram(const std::string& path) {
  const OwnedFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.is_open()) return std::unexpected(ErrnoError("open", path, errno));
  TRY(OwnedFd image, sys::BeginExecutableCopy(kProgramName));
  TRY_VOID(sys::FinishExecutableCopy(image.get(), file.get(), sys::ImageMode::kOnlyExecutable));
  return std::make_shared<const OwnedFd>(std::move(image));
}

std::string OwnDirectory() {
  std::error_code unknown;
  return std::filesystem::read_symlink("/proc/self/exe", unknown).parent_path().string();
}

SandboxPrograms OpenSandboxPrograms(const std::string& tool_path) {
  const std::string directory = OwnDirectory();
  SandboxPrograms programs{.helper = SealProgram(fmt::format("{}/{}", directory, kProgramName)),
                           .directory = directory};
  auto bubblewrap = FindBubblewrap({.path_variable = tool_path,
                                    .untrusted = {},
                                    .own_directory = directory,
                                    .bundled_sha256 = BundledBubblewrapDigest()});
  if (bubblewrap) programs.bubblewrap = std::make_shared<const OwnedFd>(std::move(bubblewrap->program));
  return programs;
}

Result<process::Command> SandboxProgram::Begin(const SandboxSpec& sandbox, const std::string& cwd) const {
  TRY(const auto helper, programs_.helper);
  TRY(sys::Pipe report, sys::MakePipe(sys::OurEnd::kRead));
  TRY(OwnedFd profile, sys::MakeMemoryFile("profile", ProfileText(sandbox.profile)));
  process::Command command;
  // Without rules about files nobody has mount points to remove.
  const bool leaves_something = sandbox.restricts_files() && !sandbox.legacy_landlock;
  command.wrapper = process::Wrapper{.fds = {},
                                     .report = std::make_shared<OwnedFd>(std::move(report.read_end)),
                                     .grace = leaves_something ? kCleanUpTime : std::chrono::milliseconds(0)};
  command.cwd = cwd;
  command.argv = {kProgramName, "--sandbox-policy-cwd", sandbox.policy_cwd, "--command-cwd", cwd, "--tool-path",
                  tool_path_,   "--program-dir",        programs_.directory};
  Pass(command, "--permission-profile-fd", std::make_shared<OwnedFd>(std::move(profile)));
  Pass(command, "--report-fd", std::make_shared<OwnedFd>(std::move(report.write_end)));
  command.program = fmt::format("/proc/self/fd/{}", Pass(command, "--program-fd", helper));
  if (programs_.bubblewrap) Pass(command, "--bwrap-fd", programs_.bubblewrap);
  TRY_VOID(ShutPort(sandbox, command));
  if (server_tmpdir_.starts_with('/')) Add(command, {"--server-tmpdir", server_tmpdir_});
  if (!doors_.hidden_path().empty()) Add(command, {"--hide", doors_.hidden_path()});
  for (const std::string& root : sandbox.project_roots) Add(command, {"--project-root", root});
  if (sandbox.legacy_landlock) Add(command, {"--use-legacy-landlock"});
  if (sandbox.proxies) Add(command, {"--managed-network", wire::Encode(*sandbox.proxies)});
  return command;
}

// The port is shut for a command with a network, and for the proxies of one without.
Result<> SandboxProgram::ShutPort(const SandboxSpec& sandbox, process::Command& command) const {
  if (!doors_.open_port()) return {};
  Add(command, {"--shut-port", std::to_string(*doors_.open_port())});
  if (sandbox.proxies || sandbox.profile.policy.network == Network::kRestricted) return {};
  TRY(auto ruleset, doors_.PortRuleset());
  if (ruleset) Pass(command, "--port-ruleset-fd", std::move(ruleset));
  return {};
}

std::optional<TemporaryDirectory> SandboxProgram::TemporaryDirectoryOf(const process::Command& command,
                                                                       const SandboxSpec& sandbox) const {
  std::string wanted = Variable(command.env, "TMPDIR");
  if (wanted.empty() || !NamesTemporaryDirectory(sandbox.profile.policy)) return std::nullopt;
  return TemporaryDirectory{.wanted = std::move(wanted), .of_server = server_tmpdir_};
}

Result<process::Command> SandboxProgram::Wrap(const process::Command& command, const SandboxSpec& sandbox) const {
  TRY(process::Command wrapped, Begin(sandbox, command.cwd));
  if (MayProtectAnyName(sandbox)) sys::ExpectPlaceholdersOfAnyName();
  wrapped.env = command.env;
  // The client's own environment, which it may pass on, names the server's URL.
  if (!doors_.secret().empty()) {
    std::erase_if(wrapped.env, [&](const auto& variable) {
      return variable.first.contains(doors_.secret()) || variable.second.contains(doors_.secret());
    });
  }
  const process::CommandText text = process::TextOf(command);  // the program looks every bare name up
  if (text.arg0) Add(wrapped, {"--arg0", *text.arg0});
  wrapped.argv.emplace_back("--");
  wrapped.argv.insert(wrapped.argv.end(), text.words.begin(), text.words.end());
  return wrapped;
}

Result<process::Command> SandboxProgram::FileHelper(const SandboxSpec& sandbox) const {
  TRY(process::Command helper, Begin(sandbox, "/"));
  helper.env = SmallEnvironment();
  helper.argv.emplace_back("--fs-helper");
  return helper;
}

}  // namespace holdfast::sandbox
