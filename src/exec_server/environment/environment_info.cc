#include "exec_server/environment/environment_info.h"

#include <fcntl.h>
#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <optional>
#include <span>

#include <fmt/format.h>

#include "base/build_id.h"
#include "base/environment_variable.h"
#include "base/file_uri.h"
#include "base/paths.h"
#include "base/sha256.h"
#include "base/version.h"

namespace holdfast::exec_server {
namespace {

constexpr std::array<std::string_view, 3> kKnownToClients = {"bash", "zsh", "sh"};

// Returns whether `path` is a file that the server may execute. Links are followed, because `/bin/sh` is a link on most
// machines.
bool IsProgram(const std::string& path) {
  struct stat status;
  return ::stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode) &&
         ::faccessat(AT_FDCWD, path.c_str(), X_OK, AT_EACCESS) == 0;
}

bool IsUsable(const std::string& path) {
  return path.starts_with('/') && std::ranges::find(kKnownToClients, NameOf(path)) != kKnownToClients.end() &&
         IsProgram(path);
}

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

std::optional<std::string> ProviderId(std::string_view version, std::string_view build_id) {
  if (build_id.empty()) return std::nullopt;
  const std::string text = fmt::format("holdfast exec-server\n{}\nx86_64 linux\n{}\n", version, build_id);
  Sha256 digest;
  digest.Update(std::as_bytes(std::span(text)));
  return "sha256:" + digest.HexDigest();
}

wire::Shell AnnouncedShell(std::string_view login_shell, std::span<const std::string> directories) {
  const std::string own(login_shell);
  if (IsUsable(own)) return {std::string(NameOf(own)), own};
  for (const std::string name : {"bash", "sh"}) {
    for (const std::string& directory : directories) {
      const std::string path = fmt::format("{}/{}", directory, name);
      if (IsProgram(path)) return {name, path};
    }
  }
  return {"sh", "/bin/sh"};
}

std::vector<std::string> ShellDirectories(std::string_view search_path) {
  std::vector<std::string> directories = {"/bin", "/usr/bin", "/usr/local/bin"};
  for (const std::string_view directory : DirectoriesIn(search_path)) {
    if (directory.starts_with('/')) directories.emplace_back(directory);
  }
  return directories;
}

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
