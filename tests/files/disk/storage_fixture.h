// A fixture that runs a test in a directory on each kind of storage: on a disk, and in memory (tmpfs).
#pragma once

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "base/owned_fd.h"
#include "base/result.h"
#include "support/contents.h"

namespace holdfast::files {

inline std::span<const std::byte> Bytes(std::string_view text) { return std::as_bytes(std::span(text)); }

inline std::string ReadAll(const std::string& path) { return support::Contents(path); }

inline struct stat StatOf(const std::string& path) {
  struct stat status = {};
  EXPECT_EQ(::lstat(path.c_str(), &status), 0) << path;
  return status;
}
inline mode_t PermissionsOf(const std::string& path) { return StatOf(path).st_mode & 07777; }

// Returns the names in a directory, sorted.
inline std::vector<std::string> NamesIn(const std::string& path) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(path)) names.push_back(entry.path().filename().string());
  std::ranges::sort(names);
  return names;
}

template <typename T>
testing::AssertionResult FailsWith(const Result<T>& result, ErrorKind kind, std::string_view text) {
  if (result) return testing::AssertionFailure() << "no error";
  if (result.error().kind == kind && result.error().message.contains(text)) return testing::AssertionSuccess();
  return testing::AssertionFailure() << "kind " << static_cast<int>(result.error().kind) << ": "
                                     << result.error().message;
}

template <typename T>
testing::AssertionResult Succeeds(const Result<T>& result) {
  if (result) return testing::AssertionSuccess();
  return testing::AssertionFailure() << result.error().message;
}

class StorageTest : public testing::TestWithParam<const char*> {
 protected:
  StorageTest() : path_(std::string(GetParam()) + "/holdfast_test.XXXXXX") {
    EXPECT_NE(::mkdtemp(path_.data()), nullptr);
    EXPECT_EQ(::chmod(path_.c_str(), 0777), 0);
    old_umask_ = ::umask(022);
  }
  ~StorageTest() override {
    ::umask(old_umask_);
    std::error_code ignored;  // a directory that stays does no harm
    std::filesystem::remove_all(path_, ignored);
  }

  const std::string& Path() const { return path_; }
  std::string Path(std::string_view name) const { return path_ + "/" + std::string(name); }

  std::string MakeFile(std::string_view name, std::string_view text = "", mode_t mode = 0644) const {
    std::ofstream(Path(name), std::ios::binary) << text;
    EXPECT_EQ(::chmod(Path(name).c_str(), mode), 0);
    return Path(name);
  }
  std::string MakeDirectory(std::string_view name, mode_t mode = 0755) const {
    EXPECT_EQ(::mkdir(Path(name).c_str(), 0777), 0);
    EXPECT_EQ(::chmod(Path(name).c_str(), mode), 0);
    return Path(name);
  }
  std::string MakeLink(std::string_view name, const std::string& target) const {
    EXPECT_EQ(::symlink(target.c_str(), Path(name).c_str()), 0);
    return Path(name);
  }
  std::string MakeFifo(std::string_view name) const {
    EXPECT_EQ(::mkfifo(Path(name).c_str(), 0666), 0);
    return Path(name);
  }
  std::string MakeSocket(std::string_view name) const {
    sockaddr_un address = {.sun_family = AF_UNIX, .sun_path = {}};
    Path(name).copy(address.sun_path, sizeof address.sun_path - 1);
    const OwnedFd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    EXPECT_EQ(::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
    return Path(name);
  }

 private:
  std::string path_;
  mode_t old_umask_;
};

#define HOLDFAST_ON_EACH_STORAGE(suite)                                               \
  INSTANTIATE_TEST_SUITE_P(Storage, suite, testing::Values("/tmp", "/dev/shm"),       \
                           [](const testing::TestParamInfo<const char*>& info) {      \
                             return std::string(info.index == 0 ? "Disk" : "Memory"); \
                           })

}  // namespace holdfast::files
