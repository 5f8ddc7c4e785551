#include "files/disk/descent.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include <fmt/format.h>

#include "base/check.h"
#include "sys/open.h"

namespace holdfast::files {
namespace {

constexpr size_t kMaxShown = 32;  // the most names of a path in a message

int OpenDirectory(int directory, const std::string& name) {
  return sys::TryOpenAt(directory, name, O_PATH | O_DIRECTORY, sys::Links::kNone);
}

}  // namespace

Descent::Descent(OwnedFd top, std::string path) : path_(std::move(path)) {
  while (path_.ends_with('/')) path_.pop_back();
  levels_.push_back({.name = {}, .directory = std::move(top)});
}

int Descent::Enter(const std::string& name) {
  const int opened = OpenDirectory(fd(), name);
  if (opened < 0) return opened;
  OwnedFd directory(opened);
  if (levels_.size() - highest_open_ == kMaxOpen) {
    if (const int failed = CloseHighest()) return failed;
  }
  levels_.push_back({.name = name, .directory = std::move(directory)});
  return 0;
}

int Descent::CloseHighest() {
  Level& highest = levels_[highest_open_];
  struct stat status;
  if (::fstat(highest.directory.get(), &status) < 0) return -errno;
  highest.identity = sys::FileIdentity::Of(status);
  highest.directory.Reset();
  ++highest_open_;
  return 0;
}

Result<OwnedFd> Descent::Leave() {
  CHECK(depth() > 0);
  Level& above = levels_[levels_.size() - 2];
  if (!above.directory.is_open()) TRY_VOID(Reopen(above, fd()));
  OwnedFd left = std::move(levels_.back().directory);
  levels_.pop_back();
  highest_open_ = std::min(highest_open_, levels_.size() - 1);
  return left;
}

Result<> Descent::Reopen(Level& level, int below) {
  const int opened = OpenDirectory(below, "..");
  if (opened < 0) return FailErrno("open", PathOf(".."), -opened);
  OwnedFd directory(opened);
  struct stat status;
  if (::fstat(directory.get(), &status) < 0) return FailErrno("fstat", PathOf(".."));
  if (sys::FileIdentity::Of(status) != level.identity) {
    return Fail(ErrorKind::kSystem, fmt::format("open {}: the directory was moved meanwhile", PathOf("..")));
  }
  level.directory = std::move(directory);
  return {};
}

Result<DirectoryReader> Descent::List() const {
  const int opened = sys::TryOpenAt(fd(), ".", O_RDONLY | O_DIRECTORY, sys::Links::kNone);
  if (opened < 0) return FailErrno("open", PathOf("."), -opened);
  return DirectoryReader(OwnedFd(opened), PathOf("."));
}

std::string Descent::PathOf(std::string_view name) const {
  const size_t first = levels_.size() > kMaxShown + 1 ? levels_.size() - kMaxShown : 1;
  std::string path = path_;
  if (first > 1) path += "/...";
  for (size_t i = first; i < levels_.size(); ++i) path.append("/").append(levels_[i].name);
  if (name != ".") return path.append("/").append(name);
  return path.empty() ? "/" : path;
}

Result<std::optional<RawEntry>> NextIn(DirectoryReader& reader) {
  auto entry = reader.Next();
  if (!entry && entry.error().kind == ErrorKind::kNotFound) return std::nullopt;
  return entry;
}

}  // namespace holdfast::files
