#include <fcntl.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <filesystem>
#include <set>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "sandboxee/surroundings.h"

namespace holdfast::sandboxee {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kDirectories[] = {
    "ws/.git/hooks",
    "ws/.git/objects",
    "ws/.git/refs",
    "ws/sub/.git/hooks",
    "ws/.aws",
    "ws/empty",
    "ws/sub/.git/objects/info",
    "out/dir",
    "store/gitdir/hooks",
    "ws/lvl1/lvl2",
    "ws/private/open",
    "linked",
    "elsewhere",
};

constexpr std::pair<std::string_view, std::string_view> kFiles[] = {
    {"ws/.git/HEAD", "ref: refs/heads/main\n"},
    {"ws/.git/config", "[core]\n\trepositoryformatversion = 0\n"},
    {"ws/sub/.git/HEAD", "ref: refs/heads/main\n"},
    {"ws/sub/.git/config", "[core]\n"},
    {"ws/sub/code.cc", "code\n"},
    {"ws/sub/x.env", "secret\n"},
    {"ws/.env", "secret\n"},
    {"ws/a.txt", "a\n"},
    {"ws/private/key", "secret\n"},
    {"ws/lvl1/lvl2/locked/f.txt", "locked\n"},
    {"out/file.txt", "outside\n"},
    {"out/secret.txt", "secret\n"},
    {"out/secrets/key", "secret\n"},
    {"store/gitdir/HEAD", "ref: refs/heads/main\n"},
    {"store/gitdir/config", "[core]\n"},
};

constexpr std::string_view kNeverChanged[] = {
    "out", "ws/.git", "ws/sub/.git", "ws/.aws", "ws/lvl1/lvl2/locked", "store/gitdir", "tree/.git",
};

constexpr std::string_view kNeverMade[] = {"ws/.codex", "ws/.agents", "ws/nope", "moved", "ws/lvl1/lvl2/.git"};

// The time of the last change shows every change, also of attributes that are not in the text.
std::string Describe(const fs::path& path) {
  struct stat status;
  if (::lstat(path.c_str(), &status) < 0) return "missing";
  return fmt::format("{} {:o} {} links {} bytes {}.{:09}", path.string(), status.st_mode, status.st_nlink,
                     status.st_size, status.st_ctim.tv_sec, status.st_ctim.tv_nsec);
}

}  // namespace

std::string Fill(std::string_view text, const Places& places) {
  std::string filled(text);
  for (const auto& [name, value] : places) {
    const std::string variable = "{" + name + "}";
    for (size_t at; (at = filled.find(variable)) != std::string::npos;) filled.replace(at, variable.size(), value);
  }
  return filled;
}

Tree::Tree(uid_t owner) {
  const std::string& d = path();
  for (const std::string_view name : kDirectories) fs::create_directories(fs::path(d) / name);
  for (const auto& [name, text] : kFiles) root_.Write(name, text);
  root_.Write("tree/.git", "gitdir: " + d + "/store/gitdir\n");
  fs::create_symlink(d + "/out", d + "/ws/link");
  fs::create_symlink(d + "/elsewhere", d + "/linked/.git");
  (void)::setxattr((d + "/out/file.txt").c_str(), "user.planted", "x", 1, 0);  // not every file system has attributes
  for (const auto& entry : fs::recursive_directory_iterator(d)) {
    EXPECT_EQ(::lchown(entry.path().c_str(), owner, owner), 0);
  }
  EXPECT_EQ(::chown(d.c_str(), owner, owner), 0);
  for (const std::string name : {"ws", "out", "store", "tree", "linked"}) places_[name] = d + "/" + name;
  places_["d"] = d;
}

std::string Tree::Protected() const {
  std::set<std::string> lines;
  for (const std::string_view name : kNeverChanged) {
    const fs::path top = fs::path(path()) / name;
    lines.insert(Describe(top));
    if (!fs::is_directory(top)) continue;
    for (const auto& entry : fs::recursive_directory_iterator(top)) lines.insert(Describe(entry.path()));
  }
  for (const std::string_view name : kNeverMade) {
    if (fs::exists(fs::symlink_status(fs::path(path()) / name))) lines.insert(fmt::format("made {}", name));
  }
  return fmt::format("{}\n", fmt::join(lines, "\n"));
}

OwnedFd Tree::Open(Passed passed) const {
  const std::string out = places_.at("out");
  switch (passed) {
    case Passed::kNothing:
      return {};
    case Passed::kFileAs0:
    case Passed::kFileAs3:
      return OwnedFd(::open((out + "/file.txt").c_str(), O_RDONLY | O_CLOEXEC));
    case Passed::kDirectoryAs0:
    case Passed::kDirectoryAs3:
      return OwnedFd(::open(out.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    case Passed::kWritableFileAs3:
      return OwnedFd(::open((out + "/file.txt").c_str(), O_WRONLY | O_APPEND | O_CLOEXEC));
  }
  return {};
}

}  // namespace holdfast::sandboxee
