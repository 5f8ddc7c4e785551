#include "linux_sandbox/run_main.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "base/result.h"
#include "linux_sandbox/command_line.h"
#include "linux_sandbox/sandboxed_run.h"
#include "profile/permission_profile.h"
#include "sandbox/inner_stage.h"
#include "sandbox/outer_stage.h"
#include "sandbox/proxy_routes.h"
#include "sys/io.h"

namespace holdfast::linux_sandbox {
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

int ExecDirectly(const CommandLine& line) {
  const std::string& cwd = line.command_cwd.value_or(line.policy_cwd);
  if (::chdir(cwd.c_str()) < 0) return Complain(kCannotEnforce, ErrnoError("chdir", cwd, errno).message);
  std::vector<char*> argv;
  argv.reserve(line.command.size() + 1);
  for (const std::string& word : line.command) argv.push_back(const_cast<char*>(word.c_str()));  // exec only reads
  argv.push_back(nullptr);
  ::execvp(argv[0], argv.data());
  return Complain(errno == ENOENT ? kNotFound : kNotExecutable, ErrnoError("execute", line.command[0], errno).message);
}

// What is not built is refused, never left out.
Result<> CheckBuilt(const CommandLine& line) {
  if (line.legacy_landlock) return Fail(ErrorKind::kInvalidRequest, "--use-legacy-landlock is not built yet");
  if (line.landlock_only) return Fail(ErrorKind::kInvalidRequest, "--allow-landlock-only is not built yet");
  return {};
}

int RunOuter(const std::vector<std::string_view>& words) {
  auto line = ParseCommandLine(words);
  if (!line) return Complain(kBadUsage, fmt::format("{}\n{}", line.error().message, Usage()));
  if (line->command.empty()) return Complain(kInternal, "no command to run");
  if (auto built = CheckBuilt(*line); !built) return Complain(kCannotEnforce, built.error().message);
  if (line->profile_fd) {
    auto text = ReadSheet(*line->profile_fd);
    if (!text) return Complain(kBadUsage, text.error().message);
    line->profile = *std::move(text);
  }
  if (!line->profile) return Complain(kInternal, "--permission-profile is missing");
  auto profile = profile::ParseProfile(*line->profile);
  if (!profile) return Complain(kBadUsage, "permission profile: " + profile.error().message);
  if (profile->type == profile::ProfileType::kDisabled && !line->network_through_proxy) return ExecDirectly(*line);
  std::optional<sandbox::ProxyRoutes> proxy;
  if (line->network_through_proxy) {
    auto routes = sandbox::FindProxyRoutes(environ, line->proxy_ports);
    if (!routes) return Complain(kInternal, routes.error().message);
    proxy = *std::move(routes);
  }
  return Run({.policy = std::move(profile->policy),
              .policy_cwd = line->policy_cwd,
              .command_cwd = line->command_cwd.value_or(line->policy_cwd),
              .fresh_proc = line->fresh_proc,
              .proxy = std::move(proxy),
              .command = line->command});
}

// Ends the process by itself: what a program does at its exit has no business in pid 1 of a sandbox.
int RunInner(std::string_view descriptor) {
  const int fd = std::atoi(std::string(descriptor).c_str());
  const auto bytes = ReadSheet(fd);
  if (!bytes) return Complain(kInternal, bytes.error().message);
  ::close(fd);
  const auto orders = sandbox::DecodeOrders(*bytes);
  if (!orders) return Complain(kInternal, orders.error().message);
  ::_exit(sandbox::RunInnerStage(*orders));
}

bool IsInnerStage(int argc, char** argv) { return argc == 3 && std::string_view(argv[1]) == sandbox::kInnerStage; }

}  // namespace

bool IsOurs(int argc, char** argv) {
  const std::string_view argv0 = argc > 0 ? argv[0] : "";
  const std::string_view name = argv0.substr(argv0.rfind('/') + 1);
  return name == "holdfast-linux-sandbox" || name == "codex-linux-sandbox" || IsInnerStage(argc, argv);
}

int RunMain(int argc, char** argv) {
  if (IsInnerStage(argc, argv)) return RunInner(argv[2]);
  return RunOuter(std::vector<std::string_view>(argv + 1, argv + argc));
}

}  // namespace holdfast::linux_sandbox
