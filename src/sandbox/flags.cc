#include "sandbox/flags.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <utility>

#include <fmt/format.h>

#include "base/parse_number.h"
#include "wire/decode.h"
#include "wire/encode.h"
#include "wire/json.h"
#include "wire/managed_network.h"

namespace holdfast::sandbox {
namespace {

constexpr std::string_view kReportFd = "--report-fd";
constexpr std::string_view kHelp = "--help";

using Values = std::vector<std::string>;

// Parse reads a flag into the command. Write returns the values of a flag, which is written once for each of them.
using Parse = Result<> (*)(SandboxedCommand& command, std::string_view flag, std::string_view value);
using Write = Values (*)(const SandboxedCommand& command);

// A flag without a value has no `value_name`, and is written once or not at all.
struct Flag {
  std::string_view name, value_name, help;
  Parse parse;
  Write write;
};

std::unexpected<Error> Wrong(std::string message) { return Fail(ErrorKind::kInvalidParams, std::move(message)); }

Result<std::string> Absolute(std::string_view flag, std::string_view path) {
  if (!path.starts_with('/')) return Wrong(fmt::format("{}: \"{}\" is not an absolute path", flag, path));
  return std::string(path);
}

// Returns the member at the end of a path of members: Of<&C::guarded, &Guarded::hidden> is command.guarded.hidden.
template <auto... Path>
auto& Of(auto& command) {
  return (command.*....*Path);
}

template <auto... Path>
Result<> ParsePath(SandboxedCommand& command, std::string_view flag, std::string_view value) {
  TRY(Of<Path...>(command), Absolute(flag, value));
  return {};
}

template <auto... Path>
Result<> AddPath(SandboxedCommand& command, std::string_view flag, std::string_view value) {
  TRY(std::string path, Absolute(flag, value));
  Of<Path...>(command).push_back(std::move(path));
  return {};
}

template <std::optional<std::string> SandboxedCommand::* Member>
Result<> ParseText(SandboxedCommand& command, std::string_view, std::string_view value) {
  command.*Member = value;
  return {};
}

template <auto Member, auto Value>
Result<> Set(SandboxedCommand& command, std::string_view, std::string_view) {
  command.*Member = Value;
  return {};
}

// Reads the number of the descriptor of the profile. On standard input it would take the command's input away.
Result<> ParseProfileFd(SandboxedCommand& command, std::string_view flag, std::string_view value) {
  TRY(command.profile_fd, ParseDescriptor(value));
  if (*command.profile_fd == STDIN_FILENO) {
    return Wrong(fmt::format("{}: descriptor 0 is the command's input; pass the profile in another, such as 3", flag));
  }
  return {};
}

// Reads a descriptor that is for the helper itself. It becomes close-on-exec, so that no program inherits it by
// mistake.
template <auto... Path>
Result<> ParseOwnDescriptor(SandboxedCommand& command, std::string_view, std::string_view value) {
  TRY(const int fd, ParseDescriptor(value));
  if (fd <= STDERR_FILENO) return Wrong("descriptors 0, 1 and 2 belong to the command");
  if (::fcntl(fd, F_SETFD, FD_CLOEXEC) < 0) return Wrong(fmt::format("descriptor {}: {}", fd, ErrnoText(errno)));
  Of<Path...>(command) = fd;
  return {};
}

Result<> ParseReportFd(SandboxedCommand& command, std::string_view, std::string_view value) {
  TRY(command.report_fd, ParseDescriptor(value));
  if (*command.report_fd <= STDERR_FILENO) {
    return Wrong("--report-fd: descriptors 0, 1 and 2 belong to the command");
  }
  return {};
}

Result<> ParseShutPort(SandboxedCommand& command, std::string_view, std::string_view text) {
  command.shut_port = ParseNumber<uint16_t>(text);
  if (command.shut_port.value_or(0) == 0) return Wrong(fmt::format("\"{}\" is not a port", text));
  return {};
}

Result<> ParseManagedNetwork(SandboxedCommand& command, std::string_view flag, std::string_view value) {
  wire::Document document;
  const auto json = document.Parse(value);
  if (!json) return Wrong(fmt::format("{}: {}", flag, json.error().message));
  auto network = wire::Decode<wire::ManagedNetwork>(*json);
  if (!network) return Wrong(fmt::format("{}: {}", flag, network.error().message));
  command.sandbox.proxies = *std::move(network);
  return {};
}

bool IsPlainProxyNetwork(const SandboxedCommand& command) { return command.sandbox.proxies == wire::ManagedNetwork(); }

Values WriteManagedNetwork(const SandboxedCommand& command) {
  if (!command.sandbox.proxies || IsPlainProxyNetwork(command)) return {};
  return {wire::Encode(*command.sandbox.proxies)};
}

Values ValuesOf(const std::string& text) { return text.empty() ? Values{} : Values{text}; }
Values ValuesOf(const std::vector<std::string>& texts) { return texts; }
Values ValuesOf(const std::optional<std::string>& text) { return text ? Values{*text} : Values{}; }
Values ValuesOf(const std::optional<int>& number) { return number ? Values{std::to_string(*number)} : Values{}; }
Values ValuesOf(const std::optional<uint16_t>& number) { return number ? Values{std::to_string(*number)} : Values{}; }

template <auto... Path>
Values WriteMember(const SandboxedCommand& command) {
  return ValuesOf(Of<Path...>(command));
}

Values Once(bool given, std::string value = "") { return given ? Values{std::move(value)} : Values{}; }

template <auto Member, auto Value>
Values WriteIf(const SandboxedCommand& command) {
  return Once(command.*Member == Value);
}

using C = SandboxedCommand;
constexpr std::array kFlags = {
    Flag{"--sandbox-policy-cwd", "DIR", "the policy's directory; required",
         ParsePath<&C::sandbox, &SandboxSpec::policy_cwd>, WriteMember<&C::sandbox, &SandboxSpec::policy_cwd>},
    Flag{"--project-root", "DIR", "a root of the project; may be repeated; default: the policy's directory",
         AddPath<&C::sandbox, &SandboxSpec::project_roots>, WriteMember<&C::sandbox, &SandboxSpec::project_roots>},
    Flag{"--command-cwd", "DIR", "the directory that the command runs in; default: the policy's directory",
         [](C& command, std::string_view flag, std::string_view value) -> Result<> {
           TRY(command.command.cwd, Absolute(flag, value));
           return {};
         },
         [](const C& command) { return ValuesOf(command.command.cwd); }},
    Flag{"--permission-profile", "JSON", "the profile: what the command may do", ParseText<&C::profile>,
         WriteMember<&C::profile>},
    Flag{"--permission-profile-fd", "FD", "a descriptor, not 0, that the profile is read from", ParseProfileFd,
         WriteMember<&C::profile_fd>},
    Flag{"--tool-path", "PATH", "the directories that bwrap is looked for in; default: $PATH", ParseText<&C::tool_path>,
         WriteMember<&C::tool_path>},
    // The name alone is the argv until SetArguments adds the rest.
    Flag{"--arg0", "NAME", "the command's argv[0]; default: COMMAND",
         [](C& command, std::string_view, std::string_view value) -> Result<> {
           command.command.argv = {std::string(value)};
           return {};
         },
         [](const C& command) {
           return command.command.argv.empty() ? Values{} : ValuesOf(process::TextOf(command.command).arg0);
         }},
    Flag{"-c", "KEY=VALUE", "use_legacy_landlock=true|false",
         [](C& command, std::string_view, std::string_view value) -> Result<> {
           TRY(command.prefers_landlock, ParseSetting(value));
           return {};
         },
         [](const C& command) { return Once(command.prefers_landlock, "use_legacy_landlock=true"); }},
    Flag{"--backend", "NAME", "auto (native, else bubblewrap), native, bubblewrap or landlock; default: auto",
         [](C& command, std::string_view, std::string_view value) -> Result<> {
           TRY(command.backend, ParseBackend(value));
           return {};
         },
         [](const C& command) {
           const bool named = command.backend == Backend::kNative || command.backend == Backend::kBubblewrap;
           return Once(named, std::string(NameOf(command.backend)));
         }},
    Flag{"--use-legacy-landlock", "", "the same as --backend landlock", Set<&C::backend, Backend::kLandlock>,
         WriteIf<&C::backend, Backend::kLandlock>},
    Flag{"--allow-landlock-only", "", "use Landlock alone where no other backend works", Set<&C::landlock_only, true>,
         WriteIf<&C::landlock_only, true>},
    Flag{"--allow-network-for-proxy", "", "allow only the proxies that the environment names as network",
         [](C& command, std::string_view, std::string_view) -> Result<> {
           if (!command.sandbox.proxies) command.sandbox.proxies.emplace();
           return {};
         },
         [](const C& command) { return Once(IsPlainProxyNetwork(command)); }},
    Flag{"--managed-network", "JSON", "the same with limits: {\"loopbackPorts\":[PORT...],\"allowLocalBinding\":BOOL}",
         ParseManagedNetwork, WriteManagedNetwork},
    Flag{"--no-proc", "", "mount no fresh /proc in the sandbox", Set<&C::fresh_proc, false>,
         WriteIf<&C::fresh_proc, false>},
    Flag{"--program-fd", "FD", "this program, where no command can change it", ParseOwnDescriptor<&C::program_fd>,
         WriteMember<&C::program_fd>},
    Flag{"--bwrap-fd", "FD", "the bubblewrap to execute", ParseOwnDescriptor<&C::bubblewrap_fd>,
         WriteMember<&C::bubblewrap_fd>},
    Flag{"--program-dir", "DIR", "the directory of holdfast's programs; a policy that opens it is refused",
         ParsePath<&C::guarded, &Guarded::program_directory>, WriteMember<&C::guarded, &Guarded::program_directory>},
    Flag{"--server-tmpdir", "DIR", "another directory that the command's TMPDIR may be in",
         ParsePath<&C::guarded, &Guarded::server_tmpdir>, WriteMember<&C::guarded, &Guarded::server_tmpdir>},
    Flag{"--given-roots-fd", "FD",
         "the list of the writable roots that a server has given out; the command's are added",
         ParseOwnDescriptor<&C::guarded, &Guarded::given_roots_fd>, WriteMember<&C::guarded, &Guarded::given_roots_fd>},
    Flag{"--hide", "FILE", "a file that the command cannot reach; may be repeated",
         AddPath<&C::guarded, &Guarded::hidden>, WriteMember<&C::guarded, &Guarded::hidden>},
    Flag{"--private-dir", "DIR", "a directory that a private server of the user may have; default: by the environment",
         AddPath<&C::guarded, &Guarded::private_dirs>, WriteMember<&C::guarded, &Guarded::private_dirs>},
    Flag{"--shut-port", "PORT", "a TCP port that no proxy of the command may have", ParseShutPort,
         WriteMember<&C::shut_port>},
    Flag{"--port-ruleset-fd", "FD", "a Landlock ruleset about TCP ports, for a command with a network",
         ParseOwnDescriptor<&C::port_ruleset_fd>, WriteMember<&C::port_ruleset_fd>},
    Flag{"--exec-supervisor-fd", "FD", "a socket to a supervisor, which decides about every execve of the command",
         ParseOwnDescriptor<&C::exec_supervisor_fd>, WriteMember<&C::exec_supervisor_fd>},
    Flag{"--keep-fd", "FD", "a descriptor that the command inherits besides its standard streams",
         ParseOwnDescriptor<&C::kept_fd>, WriteMember<&C::kept_fd>},
    Flag{kReportFd, "FD", "a descriptor that the report on the start is written to", ParseReportFd,
         WriteMember<&C::report_fd>},
    Flag{"--fs-helper", "", "serve file requests on standard input instead of a command", Set<&C::file_helper, true>,
         WriteIf<&C::file_helper, true>},
};

// Returns the name of the flag in a word, which may also have its value: --flag=value.
std::string_view FlagNameIn(std::string_view word) {
  return word.substr(0, word.starts_with("--") ? word.find('=') : word.size());
}

// Returns the flag of that name, or null.
const Flag* FlagNamed(std::string_view name) {
  const auto* flag = std::ranges::find(kFlags, name, &Flag::name);
  return flag == kFlags.end() ? nullptr : flag;
}

// A helper that executes itself again has opened --program-fd itself, maybe under a number that the caller left closed.
bool NamesProgramTwice(const SandboxedCommand& command) {
  const std::optional<int> others[] = {
      command.profile_fd, command.bubblewrap_fd, command.port_ruleset_fd,       command.exec_supervisor_fd,
      command.kept_fd,    command.report_fd,     command.guarded.given_roots_fd};
  return command.program_fd && std::ranges::find(others, command.program_fd) != std::end(others);
}

Result<> CheckTogether(const SandboxedCommand& command) {
  if (NamesProgramTwice(command)) {
    return Wrong(fmt::format("descriptor {} is the helper's own program: name a descriptor that the caller has opened",
                             *command.program_fd));
  }
  if (command.sandbox.policy_cwd.empty()) return Wrong("--sandbox-policy-cwd is missing");
  if (command.profile && command.profile_fd)
    return Wrong("--permission-profile and --permission-profile-fd cannot be used together");
  if (command.file_helper && !command.command.argv.empty())
    return Wrong("--fs-helper and a command cannot be used together");
  if (command.file_helper && command.exec_supervisor_fd)
    return Wrong("--fs-helper and --exec-supervisor-fd cannot be used together");
  if (command.file_helper && command.kept_fd) return Wrong("--fs-helper and --keep-fd cannot be used together");
  return {};
}

// Puts the arguments of the command in the place of the name that --arg0 may have left.
void SetArguments(process::Command& command, std::span<const std::string_view> arguments) {
  process::CommandText text{.words = {arguments.begin(), arguments.end()}};
  if (!command.argv.empty()) text.arg0 = std::move(command.argv[0]);
  std::string cwd = std::move(command.cwd);
  const char* const path = std::getenv("PATH");
  command = arguments.empty()
                ? process::Command()
                : process::MakeCommand(std::move(text),
                                       path != nullptr ? std::optional<std::string_view>(path) : std::nullopt);
  command.cwd = std::move(cwd);
}

}  // namespace

Result<bool> ParseSetting(std::string_view setting) {
  const std::string_view key = setting.substr(0, setting.find('='));
  const std::string_view value = key.size() < setting.size() ? setting.substr(key.size() + 1) : "";
  if (key != "use_legacy_landlock" && key != "features.use_legacy_landlock") {
    return Wrong(fmt::format("-c: unknown setting {}", key));
  }
  if (value != "true" && value != "false") return Wrong(fmt::format("-c {}: expected true or false", key));
  return value == "true";
}

Result<Backend> ParseBackend(std::string_view name) {
  if (const auto backend = BackendOf(name)) return *backend;
  return Wrong(fmt::format("--backend: \"{}\" is none of auto, native, bubblewrap and landlock", name));
}

Result<int> ParseDescriptor(std::string_view text) {
  const auto fd = ParseNumber<int>(text);
  if (!fd || *fd < 0) return Wrong(fmt::format("\"{}\" is not a file descriptor", text));
  return *fd;
}

std::optional<int> FindReportFd(std::span<const std::string_view> arguments) {
  for (size_t i = 0; i < arguments.size() && arguments[i] != "--"; ++i) {
    std::string_view value;
    if (arguments[i] == kReportFd && i + 1 < arguments.size()) value = arguments[i + 1];
    if (arguments[i].starts_with(kReportFd) && arguments[i].substr(kReportFd.size()).starts_with('=')) {
      value = arguments[i].substr(kReportFd.size() + 1);
    }
    const auto fd = ParseDescriptor(value);
    if (fd && *fd > STDERR_FILENO) return *fd;
  }
  return std::nullopt;
}

bool AsksForHelp(std::span<const std::string_view> arguments) {
  for (size_t i = 0; i < arguments.size() && arguments[i] != "--"; ++i) {
    if (arguments[i] == kHelp || arguments[i] == "-h") return true;
    const Flag* const flag = FlagNamed(arguments[i]);
    if (flag != nullptr && !flag->value_name.empty()) ++i;  // the next word is the value
  }
  return false;
}

Result<SandboxedCommand> ParseFlags(std::span<const std::string_view> arguments) {
  SandboxedCommand command;
  std::span<const std::string_view> command_arguments;
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i] == "--") {
      command_arguments = arguments.subspan(i + 1);
      break;
    }
    const std::string_view name = FlagNameIn(arguments[i]);
    const Flag* const flag = FlagNamed(name);
    if (flag == nullptr) return Wrong(fmt::format("unknown flag {}", name));
    std::string_view value;
    if (name.size() < arguments[i].size()) {
      if (flag->value_name.empty()) return Wrong(fmt::format("{} takes no value", name));
      value = arguments[i].substr(name.size() + 1);
    } else if (!flag->value_name.empty()) {
      if (++i == arguments.size()) return Wrong(fmt::format("{} needs a value", name));
      value = arguments[i];
    }
    TRY_VOID(flag->parse(command, name, value));
  }
  SetArguments(command.command, command_arguments);
  TRY_VOID(CheckTogether(command));
  return command;
}

std::vector<std::string> BuildFlags(const SandboxedCommand& command) {
  std::vector<std::string> arguments;
  for (const Flag& flag : kFlags) {
    for (std::string& value : flag.write(command)) {
      arguments.emplace_back(flag.name);
      if (!flag.value_name.empty()) arguments.push_back(std::move(value));
    }
  }
  if (command.command.argv.empty()) return arguments;
  arguments.emplace_back("--");
  for (std::string& word : process::TextOf(command.command).words) arguments.push_back(std::move(word));
  return arguments;
}

std::string Usage(std::string_view called_as) {
  std::string text = fmt::format("usage: {} FLAGS -- COMMAND ARGUMENTS...\n", called_as);
  const auto add = [&text](std::string_view head, std::string_view help) {
    text += fmt::format("  {:<30} {}\n", head, help);
  };
  for (const Flag& flag : kFlags) {
    add(flag.value_name.empty() ? std::string(flag.name) : fmt::format("{} {}", flag.name, flag.value_name), flag.help);
  }
  add(kHelp, "print this text");
  return text;
}

}  // namespace holdfast::sandbox
