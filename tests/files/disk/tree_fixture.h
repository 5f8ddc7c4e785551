// Trees for tests that remove and copy them, and threads that change them meanwhile.
#pragma once

#include <fcntl.h>
#include <linux/fs.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <string>
#include <thread>
#include <utility>

#include <gtest/gtest.h>

#include "base/owned_fd.h"
#include "files/disk/storage_fixture.h"
#include "sys/open.h"

namespace holdfast::files {

inline void MakeFileAt(int directory, const std::string& name, const std::string& text = "") {
  const OwnedFd file(::openat(directory, name.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644));
  EXPECT_EQ(::write(file.get(), text.data(), text.size()), static_cast<ssize_t>(text.size())) << name;
}

// Makes `path` and `levels` nested directories called "d" below it, and calls `furnish` for each to fill it.
inline void MakeDeepTree(const std::string& path, int levels, const std::function<void(int)>& furnish = {}) {
  ASSERT_EQ(::mkdir(path.c_str(), 0755), 0);
  OwnedFd at(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  for (int level = 0; level < levels; ++level) {
    if (furnish) furnish(at.get());
    ASSERT_EQ(::mkdirat(at.get(), "d", 0755), 0);
    at = OwnedFd(::openat(at.get(), "d", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    ASSERT_TRUE(at.is_open());
  }
  MakeFileAt(at.get(), "bottom");
}

// Returns the number of directories called "d" that are nested in `path`, up to the first level where `is_good` is
// false.
inline int DepthOf(const std::string& path, const std::function<bool(int)>& is_good = {}) {
  OwnedFd at(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  for (int depth = 0;; ++depth) {
    OwnedFd next(::openat(at.get(), "d", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!next.is_open() || (is_good && !is_good(at.get()))) return depth;
    at = std::move(next);
  }
}

// Making and removing a directory may take milliseconds on a disk, so tests use smaller numbers there.
class TreeTest : public StorageTest {
 protected:
  static int Many(int in_memory, int on_disk) { return GetParam() == std::string("/tmp") ? on_disk : in_memory; }
};

inline bool Exists(const std::string& path) {
  struct stat status;
  return ::lstat(path.c_str(), &status) == 0;
}

inline size_t OpenDescriptors() {
  const std::filesystem::directory_iterator all("/proc/self/fd");
  return static_cast<size_t>(std::distance(begin(all), end(all)));
}

// While a DescriptorLimit exists, the process can open at most `more` descriptors beyond those that it has.
class DescriptorLimit {
 public:
  explicit DescriptorLimit(size_t more) {
    EXPECT_EQ(::getrlimit(RLIMIT_NOFILE, &before_), 0);
    const rlimit limit = {.rlim_cur = OpenDescriptors() + more, .rlim_max = before_.rlim_max};
    EXPECT_EQ(::setrlimit(RLIMIT_NOFILE, &limit), 0);
  }
  ~DescriptorLimit() { EXPECT_EQ(::setrlimit(RLIMIT_NOFILE, &before_), 0); }
  DescriptorLimit(const DescriptorLimit&) = delete;
  DescriptorLimit& operator=(const DescriptorLimit&) = delete;

 private:
  rlimit before_ = {};
};

// A directory without all permissions of its owner. They are restored at the end, because otherwise the directory could
// not be removed.
class Locked {
 public:
  Locked(std::string path, mode_t mode) : path_(std::move(path)) { EXPECT_EQ(::chmod(path_.c_str(), mode), 0); }
  ~Locked() { EXPECT_EQ(::chmod(path_.c_str(), 0755), 0); }
  Locked(const Locked&) = delete;
  Locked& operator=(const Locked&) = delete;

 private:
  std::string path_;
};

// Calls a function again and again for as long as it exists, as a hostile process would.
class Meanwhile {
 public:
  explicit Meanwhile(std::function<void()> act)
      : thread_([this, act = std::move(act)] {
          while (!stop_) act();
        }) {}
  ~Meanwhile() {
    stop_ = true;
    thread_.join();
  }
  Meanwhile(const Meanwhile&) = delete;
  Meanwhile& operator=(const Meanwhile&) = delete;

 private:
  std::atomic<bool> stop_ = false;
  std::thread thread_;
};

// Exchanges two names, and returns false if one of them is missing at that moment.
inline bool Swap(const std::string& one, const std::string& other) {
  return ::renameat2(AT_FDCWD, one.c_str(), AT_FDCWD, other.c_str(), RENAME_EXCHANGE) == 0;
}

}  // namespace holdfast::files
