#include "cli/connect/server_path.h"

#include <filesystem>
#include <system_error>

#include "base/file_uri.h"

namespace holdfast::cli {

Result<std::string> ServerDirectory(const Invocation& invocation, const client::ExecServerClient& client) {
  if (invocation.server().is_local()) {
    std::error_code error;
    const auto path = std::filesystem::current_path(error);
    if (error) return FailErrno("getcwd", {}, error.value());
    return path.string();
  }
  const auto& environment = client.environment();
  if (!environment || environment->cwd.empty()) return "/";
  return ParsePath(environment->cwd);
}

std::string ServerPath(std::string_view text, const std::string& directory) {
  if (text.starts_with(':')) text.remove_prefix(1);
  const std::filesystem::path path(text.empty() ? std::string_view(".") : text);
  std::string normal = (std::filesystem::path(directory) / path).lexically_normal().string();
  if (normal.size() > 1 && normal.ends_with('/')) normal.pop_back();
  return normal;
}

std::string JoinedPath(const std::string& directory, const std::string& name) {
  if (name.empty()) return directory;
  return directory.ends_with('/') ? directory + name : directory + "/" + name;
}

}  // namespace holdfast::cli
