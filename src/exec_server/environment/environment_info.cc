#include "exec_server/environment/environment_info.h"

#include <pwd.h>
#include <unistd.h>

#include <filesystem>
#include <optional>

#include <fmt/format.h>

#include "base/build_id.h"
#include "base/environment_variable.h"
#include "base/file_uri.h"
#include "base/version.h"
#include "exec_server/environment/announced_shell.h"
#include "exec_server/environment/provider_id.h"

namespace holdfast::exec_server {
namespace {

// The published server whose protocol this server speaks. Published clients compare the version: they ask only servers
// from about 0.164 on for installed skills and plugins, whatever a server announces besides. This program's own name
// and version follow as build metadata, which does not count in the comparison of versions.
constexpr const char* kSpokenVersion = "0.169.0";

// Returns the value of an environment variable if it is an absolute path.
std::optional<std::string> PathVariable(const char* name) {
  auto value = EnvironmentVariable(name);
  return value && value->starts_with('/') ? value : std::nullopt;
}

wire::Shell OwnShell(const passwd* user) {
  return AnnouncedShell(user != nullptr && user->pw_shell != nullptr ? user->pw_shell : "",
                        ShellDirectories(EnvironmentVariable("PATH").value_or("")));
}

wire::EnvironmentCapabilities Capabilities() {
  return {.fs_watch_missing = true,
          .http_header_env_vars = true,
          .file_write_streaming = true,
          .sandboxed_file_streaming = true,
          .capability_discovery_sandbox = true,
          .capability_discovery_v2 = true,
          .environment_config_read = true,
          .exec_policy = true,
          .file_update = true,
          .limits = {"wallMs"},
          .linux_root_write_preserves_devices = true,
          .linux_approved_root_write_preserves_restrictions = true};
}

}  // namespace

wire::EnvironmentInfo DescribeEnvironment() {
  // This look-up may wait for a directory service. The loop is not running yet, so nothing is held up.
  const passwd* user = ::getpwuid(::geteuid());
  wire::EnvironmentInfo info;
  info.shell = OwnShell(user);
  info.executor_version = fmt::format("{}+holdfast.{}", kSpokenVersion, kVersion);
  info.provider_id = ProviderId(kVersion, BuildId());
  info.platform_os = "linux";
  std::error_code removed;  // if the working directory no longer exists, "/" is announced
  auto cwd = std::filesystem::current_path(removed);
  info.cwd = FileUri(removed ? "/" : cwd.string());
  info.user_home_dir = FileUri(PathVariable("HOME").value_or(user != nullptr ? user->pw_dir : "/"));
  const std::optional<std::string> temp_dir = PathVariable("TMPDIR");
  info.temp_dir = FileUri(temp_dir.value_or("/tmp"));
  if (temp_dir) info.temporary_directories = {info.temp_dir};
  info.capabilities = Capabilities();
  return info;
}

}  // namespace holdfast::exec_server
