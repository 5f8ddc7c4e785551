#include "sandbox/helper_command/sandbox_program.h"

#include <fcntl.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include <fmt/format.h>

#include "base/environment_variable.h"
#include "base/paths.h"
#include "sandbox/bubblewrap/bubblewrap.h"
#include "sandbox/bubblewrap/bundled_bubblewrap.h"
#include "sandbox/flags.h"
#include "sandbox/plan/program_names.h"
#include "sandbox/resolve/given_roots.h"
#include "sys/io.h"
#include "sys/memory_file.h"
#include "sys/own_program.h"
#include "sys/placeholder.h"

namespace holdfast::sandbox {
namespace {

// The reaper of the placeholders needs a few milliseconds, but may have to wait for a processor for much longer.
constexpr std::chrono::milliseconds kCleanUpTime{2000};

// Returns the variables of the server that the file helper needs.
process::Environment SmallEnvironment() {
  process::Environment environment;
  for (const char* name : {"PATH", "TMPDIR", "TMP", "TEMP"}) {
    if (auto value = EnvironmentVariable(name)) environment.emplace_back(name, *std::move(value));
  }
  return environment;
}

// Passes a descriptor to the wrapper. Returns the number that the descriptor has there.
int Pass(process::Wrapper& wrapper, std::shared_ptr<const OwnedFd> fd) {
  wrapper.fds.push_back(std::move(fd));
  return process::Wrapper::kFirstFd + static_cast<int>(wrapper.fds.size()) - 1;
}

int Pass(process::Wrapper& wrapper, OwnedFd fd) {
  return Pass(wrapper, std::make_shared<const OwnedFd>(std::move(fd)));
}

std::string Variable(const process::Environment& environment, std::string_view name) {
  const auto found = std::ranges::find(environment, name, &process::Environment::value_type::first);
  return found != environment.end() ? found->second : "";
}

}  // namespace

std::string HelperPath() { return fmt::format("{}/{}", sys::OwnDirectory(), kProgramName); }

SandboxPrograms OpenSandboxPrograms(const SandboxProgramPaths& paths, const std::string& tool_path) {
  const std::string directory(ParentOf(paths.helper));
  SandboxPrograms programs{.helper = SealedProgram::Begin(paths.helper), .directory = directory};
  if (!paths.bubblewrap.empty()) {
    programs.bubblewrap = std::make_shared<const OwnedFd>(::open(paths.bubblewrap.c_str(), O_RDONLY | O_CLOEXEC));
    return programs;
  }
  auto bubblewrap = FindBubblewrap({.path_variable = tool_path,
                                    .untrusted = {},
                                    .own_directory = directory,
                                    .bundled_sha256 = BundledBubblewrapDigest()});
  if (bubblewrap) programs.bubblewrap = std::make_shared<const OwnedFd>(std::move(bubblewrap->program));
  return programs;
}

SandboxProgram::SandboxProgram(SandboxPrograms programs, std::string tool_path, std::string server_tmpdir,
                               Backend backend)
    : programs_(std::move(programs)),
      tool_path_(std::move(tool_path)),
      server_tmpdir_(std::move(server_tmpdir)),
      backend_(backend),
      given_roots_(GivenRoots::Make()) {}

Guarded SandboxProgram::GuardedFor(const SandboxSpec& sandbox) const {
  return {.hidden = server_access_.hidden_files(),
          .private_dirs = private_dirs_,
          .program_directory = programs_.directory,
          .server_tmpdir = server_tmpdir_.starts_with('/') ? server_tmpdir_ : "",
          .given_roots_fd = given_roots_ ? std::optional((*given_roots_)->get()) : std::nullopt,
          .shuts_port = NeedsPortRuleset(sandbox)};
}

bool SandboxProgram::NeedsPortRuleset(const SandboxSpec& sandbox) const {
  return server_access_.open_port() && !sandbox.proxies && sandbox.profile.policy.network == Network::kEnabled;
}

// Returns the ruleset that shuts the server's port for a command with a network, or null. For a command that reaches
// only proxies, the helper compares their ports with `shut_port`.
Result<std::shared_ptr<const OwnedFd>> SandboxProgram::PortRulesetFor(const SandboxSpec& sandbox) const {
  return NeedsPortRuleset(sandbox) ? server_access_.PortRuleset() : nullptr;
}

Result<process::Command> SandboxProgram::HelperCommand(SandboxedCommand sandboxed, const SandboxSpec& sandbox,
                                                       const WrapOptions& options) const {
  TRY(const auto helper, programs_.helper.Await());
  TRY(sys::Pipe report, sys::MakePipe(sys::OurEnd::kRead));
  TRY(OwnedFd profile, sys::MakeMemoryFile("profile", ProfileText(sandbox.profile)));
  // Without rules about files, or without mounts, there are no placeholders to remove.
  const bool leaves_something = sandbox.restricts_files() && !sandbox.legacy_landlock;
  process::Wrapper wrapper{.fds = {},
                           .report = std::make_shared<const OwnedFd>(std::move(report.read_end)),
                           .grace = leaves_something ? kCleanUpTime : std::chrono::milliseconds(0),
                           .lowers_file_limit = true};
  sandboxed.sandbox = sandbox;
  sandboxed.guarded = GuardedFor(sandbox);
  sandboxed.backend = sandbox.legacy_landlock ? Backend::kLandlock : backend_;
  sandboxed.tool_path = tool_path_;
  sandboxed.shut_port = server_access_.open_port();
  sandboxed.profile_fd = Pass(wrapper, std::move(profile));
  sandboxed.report_fd = Pass(wrapper, std::move(report.write_end));
  sandboxed.program_fd = Pass(wrapper, helper);
  TRY(auto given_roots, given_roots_);
  sandboxed.guarded.given_roots_fd = Pass(wrapper, std::move(given_roots));
  TRY(auto ruleset, PortRulesetFor(sandbox));
  // A wrapper has no room for all of the rest together, and then the helper looks for bubblewrap by itself.
  const bool has_room = !(ruleset && (options.exec_supervisor || options.kept));
  if (programs_.bubblewrap && has_room) sandboxed.bubblewrap_fd = Pass(wrapper, programs_.bubblewrap);
  if (ruleset) sandboxed.port_ruleset_fd = Pass(wrapper, std::move(ruleset));
  if (options.exec_supervisor) sandboxed.exec_supervisor_fd = Pass(wrapper, options.exec_supervisor);
  if (options.kept) sandboxed.kept_fd = Pass(wrapper, options.kept->fd);
  process::Command command{.program = fmt::format("/proc/self/fd/{}", *sandboxed.program_fd),
                           .argv = BuildFlags(sandboxed),
                           .env = {},
                           .cwd = sandboxed.command.cwd,
                           .wrapper = std::move(wrapper)};
  command.argv.insert(command.argv.begin(), kProgramName);
  if (options.kept) command.env = {{options.kept->name, std::to_string(*sandboxed.kept_fd)}};
  return command;
}

std::optional<TemporaryDirectory> SandboxProgram::TemporaryDirectoryOf(const process::Command& command,
                                                                       const SandboxSpec& sandbox) const {
  std::string wanted = Variable(command.env, "TMPDIR");
  if (wanted.empty() || !NamesTemporaryDirectory(sandbox.profile.policy)) return std::nullopt;
  return TemporaryDirectory{.wanted = std::move(wanted), .of_server = server_tmpdir_};
}

Result<process::Command> SandboxProgram::Wrap(const process::Command& command, const SandboxSpec& sandbox,
                                              const WrapOptions& options) const {
  const process::Command without_environment{
      .program = command.program, .search_path = command.search_path, .argv = command.argv, .cwd = command.cwd};
  TRY(process::Command wrapped, HelperCommand({.command = without_environment}, sandbox, options));
  if (MayProtectAnyName(sandbox)) sys::ExpectPlaceholdersOfAnyName();
  wrapped.env = VariablesOf(command, wrapped.env);
  return wrapped;
}

CommandPlace SandboxProgram::PlaceOf(const process::Command& command) {
  return {.cwd = command.cwd, .tmpdir = Variable(command.env, "TMPDIR")};
}

CommandPlace SandboxProgram::PlaceOfFileHelper() {
  return {.cwd = "/", .tmpdir = EnvironmentVariable("TMPDIR").value_or(""), .missing_names = MissingNames::kRefused};
}

// The environment of a client may contain the URL of the server with its secret, and the client may pass it on.
process::Environment SandboxProgram::VariablesOf(const process::Command& command,
                                                 const process::Environment& added) const {
  auto variables = process::BuildEnvironment({.ignore_default_excludes = true}, command.env, added);
  const std::string& secret = server_access_.secret();
  if (secret.empty()) return variables;
  std::erase_if(variables, [&](const auto& variable) {
    return variable.first.contains(secret) || variable.second.contains(secret);
  });
  return variables;
}

// The descriptors come in the order of JailFd.
Result<process::Command> SandboxProgram::Jail(const std::string& plan, std::shared_ptr<const OwnedFd> socket,
                                              std::shared_ptr<const OwnedFd> port_ruleset) const {
  TRY(const auto helper, programs_.helper.Await());
  TRY(sys::Pipe report, sys::MakePipe(sys::OurEnd::kRead));
  TRY(OwnedFd plan_file, sys::MakeMemoryFile("plan", plan));
  process::Wrapper wrapper{.fds = {},
                           .report = std::make_shared<const OwnedFd>(std::move(report.read_end)),
                           .grace = kCleanUpTime,
                           .lowers_file_limit = true};
  std::vector<std::string> words = {kProgramName, kJail};
  words.push_back(std::to_string(Pass(wrapper, std::move(plan_file))));
  words.push_back(std::to_string(Pass(wrapper, std::move(socket))));
  words.push_back(std::to_string(Pass(wrapper, std::move(report.write_end))));
  const int program = Pass(wrapper, helper);
  words.push_back(std::to_string(program));
  if (port_ruleset) words.push_back(std::to_string(Pass(wrapper, std::move(port_ruleset))));
  return process::Command{.program = fmt::format("/proc/self/fd/{}", program),
                          .argv = std::move(words),
                          .env = {},
                          .cwd = "/",
                          .wrapper = std::move(wrapper)};
}

Result<process::Command> SandboxProgram::FileHelper(const SandboxSpec& sandbox) const {
  TRY(process::Command helper, HelperCommand({.command = {.cwd = "/"}, .file_helper = true}, sandbox));
  helper.env = SmallEnvironment();
  return helper;
}

}  // namespace holdfast::sandbox
