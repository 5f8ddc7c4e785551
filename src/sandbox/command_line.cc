#include "sandbox/command_line.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <variant>

#include <fmt/format.h>

#include "wire/decode.h"
#include "wire/json.h"
#include "wire/managed_network.h"

namespace holdfast::sandbox {
namespace {

constexpr std::string_view kReportFd = "--report-fd";

using Take = Result<> (*)(CommandLine& line, std::string_view value);

// A flag without a value has no `value_name`.
struct Flag {
  std::string_view name, value_name, help;
  Take take;
};

std::unexpected<Error> Wrong(std::string message) { return Fail(ErrorKind::kInvalidParams, std::move(message)); }

Result<std::string> Absolute(std::string_view flag, std::string_view path) {
  if (!path.starts_with('/')) return Wrong(fmt::format("{}: \"{}\" is not absolute", flag, path));
  return std::string(path);
}

// It is not the command's: whatever is executed next does not get it unasked.
Result<int> TakeDescriptor(std::string_view text) {
  TRY(const int fd, ParseDescriptor(text));
  if (fd <= STDERR_FILENO) return Wrong("descriptors 0, 1 and 2 are the command's");
  if (::fcntl(fd, F_SETFD, FD_CLOEXEC) < 0) return Wrong(fmt::format("descriptor {}: {}", fd, ErrnoText(errno)));
  return fd;
}

Result<uint16_t> ParsePort(std::string_view text) {
  uint16_t port = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  if (error == std::errc() && end == text.data() + text.size() && port != 0) return port;
  return Wrong(fmt::format("\"{}\" is not a port", text));
}

Result<> TakeManagedNetwork(CommandLine& line, std::string_view value) {
  wire::Document document;
  const auto json = document.Parse(value);
  if (!json) return Wrong("--managed-network: " + json.error().message);
  auto network = wire::Decode<wire::ManagedNetwork>(*json);
  if (!network) return Wrong("--managed-network: " + network.error().message);
  line.network_through_proxy = true;
  line.proxy_ports = std::move(network->loopback_ports).value_or(std::vector<uint16_t>{});
  line.may_listen = network->may_listen();
  return {};
}

constexpr std::array kFlags = {
    Flag{"--sandbox-policy-cwd", "DIR", "base of the project's roots; required",
         [](CommandLine& line, std::string_view value) -> Result<> {
           TRY(line.policy_cwd, Absolute("--sandbox-policy-cwd", value));
           return {};
         }},
    Flag{"--project-root", "DIR", "a root of the project; may be repeated; default: the policy's directory",
         [](CommandLine& line, std::string_view value) -> Result<> {
           TRY(std::string root, Absolute("--project-root", value));
           line.project_roots.push_back(std::move(root));
           return {};
         }},
    Flag{"--command-cwd", "DIR", "where the command runs; default: the policy's",
         [](CommandLine& line, std::string_view value) -> Result<> {
           TRY(line.command_cwd, Absolute("--command-cwd", value));
           return {};
         }},
    Flag{"--permission-profile", "JSON", "what the command may do",
         [](CommandLine& line, std::string_view value) -> Result<> {
           line.profile = value;
           return {};
         }},
    Flag{"--permission-profile-fd", "FD", "the same, read from a descriptor",
         [](CommandLine& line, std::string_view value) -> Result<> {
           TRY(line.profile_fd, ParseDescriptor(value));
           return {};
         }},
    Flag{"--tool-path", "PATH", "where bwrap is looked for; default: $PATH",
         [](CommandLine& line, std::string_view value) -> Result<> {
           line.tool_path = value;
           return {};
         }},
    Flag{"--arg0", "NAME", "the command's own name for itself; default: as it is written",
         [](CommandLine& line, std::string_view value) -> Result<> {
           line.arg0 = value;
           return {};
         }},
    Flag{"-c", "KEY=VALUE", "use_legacy_landlock=true|false",
         [](CommandLine& line, std::string_view value) -> Result<> {
           TRY(line.legacy_landlock, ParseSetting(value));
           return {};
         }},
    Flag{"--use-legacy-landlock", "", "Landlock instead of mounts; refuses a policy that needs these",
         [](CommandLine& line, std::string_view) -> Result<> {
           line.legacy_landlock = LegacyLandlock::kRequired;
           return {};
         }},
    Flag{"--allow-landlock-only", "", "do with Landlock where there are no user namespaces",
         [](CommandLine& line, std::string_view) -> Result<> {
           line.landlock_only = true;
           return {};
         }},
    Flag{"--allow-network-for-proxy", "", "no network but the proxies of the environment",
         [](CommandLine& line, std::string_view) -> Result<> {
           line.network_through_proxy = true;
           return {};
         }},
    Flag{"--managed-network", "JSON", "the same, as {\"loopbackPorts\":[PORT...],\"allowLocalBinding\":BOOL} says",
         TakeManagedNetwork},
    Flag{"--no-proc", "", "mount no /proc of its own",
         [](CommandLine& line, std::string_view) -> Result<> {
           line.fresh_proc = false;
           return {};
         }},
    Flag{"--program-fd", "FD", "this program in sealed memory, for the stage inside",
         [](CommandLine& line, std::string_view value) -> Result<> {
           TRY(line.program_fd, TakeDescriptor(value));
           return {};
         }},
    Flag{"--bwrap-fd", "FD", "the bubblewrap to execute",
         [](CommandLine& line, std::string_view value) -> Result<> {
           TRY(line.bubblewrap_fd, TakeDescriptor(value));
           return {};
         }},
    Flag{"--program-dir", "DIR", "where holdfast's programs are; a policy that opens it is refused",
         [](CommandLine& line, std::string_view value) -> Result<> {
           TRY(line.program_directory, Absolute("--program-dir", value));
           return {};
         }},
    Flag{"--server-tmpdir", "DIR", "another directory that the command's TMPDIR may be in",
         [](CommandLine& line, std::string_view value) -> Result<> {
           TRY(line.server_tmpdir, Absolute("--server-tmpdir", value));
           return {};
         }},
    Flag{"--hide", "FILE", "a file that is out of reach inside; may be repeated",
         [](CommandLine& line, std::string_view value) -> Result<> {
           TRY(std::string path, Absolute("--hide", value));
           line.hidden.push_back(std::move(path));
           return {};
         }},
    Flag{"--shut-port", "PORT", "a TCP port that no proxy of the command may have",
         [](CommandLine& line, std::string_view value) -> Result<> {
           TRY(line.shut_port, ParsePort(value));
           return {};
         }},
    Flag{"--port-ruleset-fd", "FD", "a Landlock ruleset about TCP ports, for a command with a network",
         [](CommandLine& line, std::string_view value) -> Result<> {
           TRY(line.port_ruleset_fd, TakeDescriptor(value));
           return {};
         }},
    Flag{kReportFd, "FD", "say there whether the command was started",
         [](CommandLine& line, std::string_view value) -> Result<> {
           TRY(line.report_fd, ParseDescriptor(value));
           if (*line.report_fd <= STDERR_FILENO) return Wrong("--report-fd: 0, 1 and 2 are the command's");
           return {};
         }},
    Flag{"--fs-helper", "", "instead of a command: file requests on standard input",
         [](CommandLine& line, std::string_view) -> Result<> {
           line.fs_helper = true;
           return {};
         }},
};

Result<> CheckTogether(const CommandLine& line) {
  if (line.policy_cwd.empty()) return Wrong("--sandbox-policy-cwd is missing");
  if (line.profile && line.profile_fd)
    return Wrong("--permission-profile and --permission-profile-fd exclude each other");
  if (line.fs_helper && !line.command.empty()) return Wrong("--fs-helper and a command exclude each other");
  return {};
}

}  // namespace

Result<LegacyLandlock> ParseSetting(std::string_view setting) {
  const std::string_view key = setting.substr(0, setting.find('='));
  const std::string_view value = key.size() < setting.size() ? setting.substr(key.size() + 1) : "";
  if (key != "use_legacy_landlock" && key != "features.use_legacy_landlock") {
    return Wrong(fmt::format("-c: no setting is called {}", key));
  }
  if (value != "true" && value != "false") return Wrong(fmt::format("-c {}: expected true or false", key));
  return value == "true" ? LegacyLandlock::kWhereItFits : LegacyLandlock::kNo;
}

Result<int> ParseDescriptor(std::string_view text) {
  int fd = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), fd);
  if (error != std::errc() || end != text.data() + text.size() || fd < 0) {
    return Wrong(fmt::format("\"{}\" is no file descriptor", text));
  }
  return fd;
}

std::optional<int> FindReportFd(std::span<const std::string_view> words) {
  for (size_t i = 0; i < words.size() && words[i] != "--"; ++i) {
    std::string_view value;
    if (words[i] == kReportFd && i + 1 < words.size()) value = words[i + 1];
    if (words[i].starts_with(kReportFd) && words[i].substr(kReportFd.size()).starts_with('=')) {
      value = words[i].substr(kReportFd.size() + 1);
    }
    const auto fd = ParseDescriptor(value);
    if (fd && *fd > STDERR_FILENO) return *fd;
  }
  return std::nullopt;
}

Result<CommandLine> ParseCommandLine(std::span<const std::string_view> words) {
  CommandLine line;
  for (size_t i = 0; i < words.size(); ++i) {
    if (words[i] == "--") {
      line.command.assign(words.begin() + static_cast<ptrdiff_t>(i) + 1, words.end());
      break;
    }
    const std::string_view name = words[i].substr(0, words[i].starts_with("--") ? words[i].find('=') : words[i].size());
    const auto* flag = std::ranges::find(kFlags, name, &Flag::name);
    if (flag == kFlags.end()) return Wrong(fmt::format("no flag is called {}", name));
    std::string_view value;
    if (name.size() < words[i].size()) {
      if (flag->value_name.empty()) return Wrong(fmt::format("{} takes no value", name));
      value = words[i].substr(name.size() + 1);
    } else if (!flag->value_name.empty()) {
      if (++i == words.size()) return Wrong(fmt::format("{} needs a value", name));
      value = words[i];
    }
    TRY_VOID(flag->take(line, value));
  }
  TRY_VOID(CheckTogether(line));
  return line;
}

std::string Usage() {
  std::string text = "usage: holdfast-linux-sandbox FLAGS -- COMMAND ARGUMENTS...\n";
  for (const Flag& flag : kFlags) {
    const std::string head =
        flag.value_name.empty() ? std::string(flag.name) : fmt::format("{} {}", flag.name, flag.value_name);
    text += fmt::format("  {:<30} {}\n", head, flag.help);
  }
  return text;
}

}  // namespace holdfast::sandbox
