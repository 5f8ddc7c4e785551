#include "exec_server/environment_info.h"

#include <pwd.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "base/file_uri.h"
#include "base/version.h"

namespace holdfast::exec_server {
namespace {

std::string VariableOr(const char* name, const char* fallback) {
  const char* value = std::getenv(name);
  return value != nullptr && value[0] == '/' ? value : fallback;
}

wire::Shell LoginShell(const passwd* user) {
  std::string path =
      user != nullptr && user->pw_shell != nullptr && user->pw_shell[0] == '/' ? user->pw_shell : "/bin/sh";
  return {path.substr(path.rfind('/') + 1), path};
}

}  // namespace

wire::EnvironmentInfo DescribeEnvironment() {
  // Before the loop starts: the look-up may ask a directory service.
  const passwd* user = ::getpwuid(::geteuid());
  wire::EnvironmentInfo info;
  info.shell = LoginShell(user);
  info.executor_version = kVersion;
  info.platform_os = "linux";
  std::error_code removed;  // a working directory that no longer exists shows as the root
  auto cwd = std::filesystem::current_path(removed);
  info.cwd = FileUri(removed ? "/" : cwd.string());
  info.user_home_dir = FileUri(VariableOr("HOME", user != nullptr ? user->pw_dir : "/"));
  info.temp_dir = FileUri(VariableOr("TMPDIR", "/tmp"));
  if (std::getenv("TMPDIR") != nullptr) info.temporary_directories = {info.temp_dir};
  return info;
}

}  // namespace holdfast::exec_server
