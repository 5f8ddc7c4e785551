#include "sandbox/run_main.h"

#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <expected>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/result.h"
#include "sandbox/command_line.h"
#include "sandbox/jail/inner_stage.h"
#include "sandbox/jail/outer_stage.h"
#include "sandbox/outcome.h"
#include "sandbox/plan/program_names.h"
#include "sandbox/policy/permission_profile.h"
#include "sandbox/proxy/routes.h"
#include "sandbox/sandboxed_run.h"
#include "sys/io.h"

namespace holdfast::sandbox {
namespace {

constexpr size_t kMaxSheetBytes = 16 << 20;  // of a profile, or of orders

Result<std::string> ReadSheet(int fd) {
  std::string text;
  for (;;) {
    constexpr size_t piece = 64 << 10;
    const size_t before = text.size();
    text.resize(before + piece);
    const ssize_t n = sys::Read(fd, text.data() + before, piece);
    text.resize(before + static_cast<size_t>(std::max<ssize_t>(n, 0)));
    if (n < 0) return std::unexpected(ErrnoError("read", fmt::format("descriptor {}", fd), static_cast<int>(-n)));
    if (n == 0) return text;
    if (text.size() > kMaxSheetBytes) return Fail(ErrorKind::kLimit, fmt::format("descriptor {}: too long", fd));
  }
}

std::unexpected<Failure> Fails(Status status, std::string message) {
  return std::unexpected(Failure{status, std::move(message)});
}

// The descriptor is not the command's.
Result<std::string> TakeSheet(int fd) {
  auto text = ReadSheet(fd);
  ::close(fd);
  return text;
}

std::expected<Profile, Failure> ProfileOf(const CommandLine& line) {
  std::optional<std::string> text = line.profile;
  if (line.profile_fd) {
    auto sheet = TakeSheet(*line.profile_fd);
    if (!sheet) return Fails(kBadUsage, sheet.error().message);
    text = *std::move(sheet);
  }
  if (!text) return Fails(kInternal, "--permission-profile is missing");
  auto profile = ParseProfile(*text);
  if (!profile) return Fails(kBadUsage, "permission profile: " + profile.error().message);
  return *std::move(profile);
}

// A disabled profile asks for no sandbox. File requests need no network, so that open files are all they ask for.
bool NeedsNoSandbox(const CommandLine& line, const Profile& profile) {
  if (line.network_through_proxy) return false;
  return profile.type == ProfileType::kDisabled || (line.fs_helper && !profile.policy.files);
}

std::optional<std::string_view> PathVariable() {
  const char* const path = std::getenv("PATH");
  return path != nullptr ? std::optional<std::string_view>(path) : std::nullopt;
}

bool LeadTo(const ProxyRoutes& routes, uint16_t port) {
  return std::ranges::find(routes.endpoints, port, &ProxyEndpoint::port) != routes.endpoints.end();
}

Outcome RunLine(std::string_view name, const CommandLine& line, BuiltIn fs_helper) {
  auto profile = ProfileOf(line);
  if (!profile) return std::unexpected(std::move(profile).error());
  SandboxedRun run{.policy = std::move(profile->policy),
                   .policy_cwd = line.policy_cwd,
                   .project_roots = line.project_roots,
                   .tool_path = line.tool_path,
                   .fresh_proc = line.fresh_proc,
                   .may_listen = line.may_listen,
                   .legacy_landlock = line.legacy_landlock,
                   .landlock_only = line.landlock_only,
                   .program_fd = line.program_fd,
                   .bubblewrap_fd = line.bubblewrap_fd,
                   .port_ruleset_fd = line.port_ruleset_fd,
                   .program_directory = line.program_directory,
                   .server_tmpdir = line.server_tmpdir,
                   .hidden = line.hidden,
                   .report_fd = line.report_fd,
                   .speaker = std::string(name),
                   .built_in = line.fs_helper ? fs_helper : nullptr};
  if (!line.fs_helper) run.command = process::MakeCommand({.words = line.command, .arg0 = line.arg0}, PathVariable());
  run.command.cwd = line.command_cwd.value_or(line.policy_cwd);
  if (NeedsNoSandbox(line, *profile)) return RunDirectly(run);
  if (line.network_through_proxy) {
    auto routes = FindProxyRoutes(environ, line.proxy_ports);
    if (!routes) return Fails(kInternal, routes.error().message);
    if (line.shut_port && LeadTo(*routes, *line.shut_port)) {
      return Fails(kCannotEnforce,
                   fmt::format("the proxy on port {} is the server that starts this command: through it the command "
                               "could start others without a sandbox",
                               *line.shut_port));
    }
    run.proxy = *std::move(routes);
  }
  return Run(run);
}

Outcome RunWords(std::string_view name, const std::vector<std::string_view>& words, BuiltIn fs_helper) {
  const auto line = ParseCommandLine(words);
  if (!line) return Fails(kBadUsage, fmt::format("{}\n{}", line.error().message, Usage()));
  if (line->fs_helper && fs_helper == nullptr) return Fails(kBadUsage, "--fs-helper is not built into this program");
  if (line->command.empty() && !line->fs_helper) return Fails(kInternal, "no command to run");
  return RunLine(name, *line, fs_helper);
}

Result<InnerOrders> TakeOrders(std::string_view descriptor) {
  TRY(const int fd, ParseDescriptor(descriptor));
  TRY(const std::string bytes, TakeSheet(fd));
  return DecodeOrders(bytes);
}

// Ends the process by itself: what a program does at its exit has no business in pid 1 of a sandbox.
int RunInner(std::string_view descriptor, BuiltIn fs_helper) {
  const auto orders = TakeOrders(descriptor);
  if (!orders) return Conclude(kProgramName, Fails(kInternal, orders.error().message));
  ::_exit(RunInnerStage(*orders, fs_helper));
}

// Without its directory.
std::string_view NameOfProgram(int argc, char** argv) {
  const std::string_view path = argc > 0 ? argv[0] : "";
  return path.substr(path.rfind('/') + 1);
}

bool IsInnerStage(int argc, char** argv) { return argc == 3 && std::string_view(argv[1]) == kInnerStage; }

}  // namespace

bool IsOurs(int argc, char** argv) {
  const std::string_view name = NameOfProgram(argc, argv);
  return name == kProgramName || name == "codex-linux-sandbox" || IsInnerStage(argc, argv);
}

int RunMain(int argc, char** argv, BuiltIn fs_helper) {
  if (IsInnerStage(argc, argv)) return RunInner(argv[2], fs_helper);
  const std::string_view name = NameOfProgram(argc, argv);
  (void)std::signal(SIGCHLD, SIG_DFL);  // where it is ignored nobody can be waited for
  // A stream that is closed stays out of the way of what is opened here.
  if (const auto reserved = sys::ReserveLowFds(); !reserved)
    return Conclude(name, Fails(kInternal, reserved.error().message));
  const std::vector<std::string_view> words(argv + std::min(argc, 1), argv + argc);
  return Conclude(name, RunWords(name, words, fs_helper), FindReportFd(words));
}

}  // namespace holdfast::sandbox
