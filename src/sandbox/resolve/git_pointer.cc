#include "sandbox/resolve/git_pointer.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <climits>
#include <string_view>

#include "base/file_uri.h"
#include "base/owned_fd.h"
#include "base/paths.h"
#include "sandbox/resolve/path_walk.h"
#include "sandbox/resolve/real_path.h"
#include "sys/io.h"
#include "sys/open.h"

namespace holdfast::sandbox {
namespace {

// Returns the text of a file that holds a path. Absent when it is not a regular file, or longer than a path can be.
// O_NONBLOCK keeps the open from waiting where the file is a FIFO.
std::optional<std::string> ReadPath(const std::string& file) {
  const OwnedFd fd(sys::TryOpenAt(AT_FDCWD, file, O_RDONLY | O_NONBLOCK, sys::Links::kFollowToLast));
  struct stat status{};
  if (!fd.is_open() || ::fstat(fd.get(), &status) != 0 || !S_ISREG(status.st_mode)) return std::nullopt;
  std::string text(PATH_MAX + 64, '\0');
  size_t filled = 0;
  for (ssize_t n; filled < text.size() && (n = sys::Read(fd.get(), text.data() + filled, text.size() - filled)) > 0;) {
    filled += static_cast<size_t>(n);
  }
  if (filled == text.size()) return std::nullopt;
  text.resize(filled);
  while (text.ends_with('\n') || text.ends_with('\r')) text.pop_back();
  return text;
}

// Returns where `path`, relative to `directory`, leads when all links are followed. When nothing is there, only `.` and
// `..` are removed from the text.
std::optional<std::string> Follow(std::string_view directory, std::string_view path) {
  if (path.empty()) return std::nullopt;
  const std::string full = path.starts_with('/') ? std::string(path) : std::string(directory).append("/").append(path);
  if (std::optional<std::string> real = RealPath(full)) return real;
  Result<std::string> by_name = ParsePath(full);
  return by_name ? std::optional(*std::move(by_name)) : std::nullopt;
}

}  // namespace

std::optional<std::string> PointedGitDirectory(const std::string& git_file) {
  const std::optional<std::string> text = ReadPath(git_file);
  constexpr std::string_view key = "gitdir:";
  if (!text || !text->starts_with(key)) return std::nullopt;
  std::string_view path = std::string_view(*text).substr(key.size());
  while (path.starts_with(' ')) path.remove_prefix(1);
  return Follow(ParentOf(git_file), path);
}

std::optional<std::string> CommonGitDirectory(const std::string& git_directory) {
  const std::optional<std::string> text = ReadPath(git_directory + "/commondir");
  return text ? Follow(git_directory, *text) : std::nullopt;
}

bool IsGitDirectory(const std::string& directory) {
  struct stat status;
  const auto is_directory = [&](const char* name) {
    return ::stat((directory + name).c_str(), &status) == 0 && S_ISDIR(status.st_mode);
  };
  return ::lstat((directory + "/HEAD").c_str(), &status) == 0 && is_directory("/objects") && is_directory("/refs");
}

std::vector<std::string> GitElsewhere(const std::string& git) {
  struct stat status;
  const bool is_link = ::lstat(git.c_str(), &status) == 0 && S_ISLNK(status.st_mode);
  const std::optional<std::string> start = RealPath(git);
  if (!start || ::lstat(start->c_str(), &status) < 0) return {};
  const auto directory = S_ISDIR(status.st_mode) ? start : PointedGitDirectory(*start);
  if (!directory || ::lstat((*directory + "/HEAD").c_str(), &status) < 0) return {};
  const std::optional<std::string> common = CommonGitDirectory(*directory);
  if (!IsGitDirectory(common.value_or(*directory))) return {};
  std::vector<std::string> found;
  if (is_link) found.push_back(*start);
  if (*directory != *start) found.push_back(*directory);
  if (common && *common != *directory) found.push_back(*common);
  return found;
}

}  // namespace holdfast::sandbox
