#include "exec_policy/store/load.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <iterator>
#include <optional>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "base/owned_fd.h"
#include "exec_policy/store/rules_file.h"
#include "sys/directory.h"
#include "sys/open.h"

namespace holdfast::exec_policy {
namespace {

// Returns the names of the rules files in a directory, sorted.
Result<std::vector<std::string>> RulesNamesIn(DIR* stream, const std::string& path) {
  std::vector<std::string> names;
  errno = 0;
  while (const dirent* entry = ::readdir(stream)) {
    if (std::string_view(entry->d_name).ends_with(".rules")) names.emplace_back(entry->d_name);
  }
  if (errno != 0) return FailErrno("readdir", path);
  std::ranges::sort(names);
  return names;
}

// Returns nothing if there is no regular file of this name.
Result<std::optional<RulesText>> ReadTrustedFile(int directory, const std::string& name, const std::string& path) {
  // O_NONBLOCK lets the open of a pipe without a writer return at once.
  const int opened = sys::TryOpenAt(directory, name, O_RDONLY | O_NONBLOCK, sys::Links::kFollowToLast);
  if (opened == -ELOOP || opened == -ENOENT || opened == -ENXIO) return std::nullopt;  // a link, gone, or a socket
  if (opened < 0) return FailErrno("open", path, -opened);
  const OwnedFd fd(opened);
  struct stat status;
  if (::fstat(fd.get(), &status) < 0) return FailErrno("stat", path);
  if (!S_ISREG(status.st_mode)) return std::nullopt;
  TRY_VOID(CheckTrust(path, status));
  TRY(std::string text, ReadText(fd.get(), path));
  return RulesText{.name = path, .text = std::move(text)};
}

}  // namespace

Result<RulesText> ReadRulesFile(const std::string& path) {
  TRY(const RulesFile file, RulesFile::Open(path));
  TRY(std::string text, ReadText(file.fd.get(), path));
  return RulesText{.name = path, .text = std::move(text)};
}

Result<std::vector<RulesText>> ReadRuleLayer(const std::string& directory) {
  std::vector<RulesText> files;
  const int opened = sys::TryOpenAt(AT_FDCWD, directory, O_RDONLY | O_DIRECTORY, sys::Links::kFollow);
  if (opened == -ENOENT || opened == -ENOTDIR) return files;
  if (opened < 0) return FailErrno("open", directory, -opened);
  OwnedFd fd(opened);
  struct stat status;
  if (::fstat(fd.get(), &status) < 0) return FailErrno("stat", directory);
  TRY_VOID(CheckTrust(directory, status));
  const sys::DirectoryStream stream(::fdopendir(fd.get()));
  if (stream == nullptr) return FailErrno("opendir", directory);
  const int borrowed = fd.Release();  // the stream closes it
  TRY(const std::vector<std::string> names, RulesNamesIn(stream.get(), directory));
  for (const std::string& name : names) {
    TRY(auto file, ReadTrustedFile(borrowed, name, fmt::format("{}/{}", directory, name)));
    if (file) files.push_back(*std::move(file));
  }
  return files;
}

Result<Policy> LoadPolicy(std::span<const std::string> layers, std::span<const std::string> files) {
  std::vector<RulesText> texts;
  for (const std::string& directory : layers) {
    TRY(std::vector<RulesText> layer, ReadRuleLayer(directory));
    std::ranges::move(layer, std::back_inserter(texts));
  }
  for (const std::string& path : files) {
    TRY(RulesText text, ReadRulesFile(path));
    texts.push_back(std::move(text));
  }
  return Policy::Parse(texts);
}

}  // namespace holdfast::exec_policy
