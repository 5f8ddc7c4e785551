// Objects that make file operations fail, or try to lead them to a wrong file, for as long as they exist.
#pragma once

#include <fcntl.h>
#include <grp.h>
#include <linux/fs.h>
#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdio>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace holdfast::files {

// Lets the test itself run without the rights of root.
class AsOrdinaryUser {
 public:
  AsOrdinaryUser() {
    if (!was_root_) return;
    groups_.resize(static_cast<size_t>(::getgroups(0, nullptr)));
    EXPECT_GE(::getgroups(static_cast<int>(groups_.size()), groups_.data()), 0);
    EXPECT_TRUE(::setgroups(0, nullptr) == 0 && ::setegid(kNobody) == 0 && ::seteuid(kNobody) == 0);
  }
  ~AsOrdinaryUser() {
    if (!was_root_) return;
    EXPECT_TRUE(::seteuid(0) == 0 && ::setegid(0) == 0 && ::setgroups(groups_.size(), groups_.data()) == 0);
  }
  AsOrdinaryUser(const AsOrdinaryUser&) = delete;
  AsOrdinaryUser& operator=(const AsOrdinaryUser&) = delete;

  static constexpr uid_t kNobody = 65534;

 private:
  const bool was_root_ = ::geteuid() == 0;
  std::vector<gid_t> groups_;
};

// A limit on the size of files. It leads to a short write and then to EFBIG, and needs no special rights.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) {
    EXPECT_EQ(::getrlimit(RLIMIT_FSIZE, &before_), 0);
    const rlimit limit = {.rlim_cur = bytes, .rlim_max = before_.rlim_max};
    EXPECT_EQ(::setrlimit(RLIMIT_FSIZE, &limit), 0);
  }
  ~FileSizeLimit() {
    EXPECT_EQ(::setrlimit(RLIMIT_FSIZE, &before_), 0);
    ::signal(SIGXFSZ, action_before_);
  }
  FileSizeLimit(const FileSizeLimit&) = delete;
  FileSizeLimit& operator=(const FileSizeLimit&) = delete;

 private:
  rlimit before_ = {};
  sighandler_t action_before_ = ::signal(SIGXFSZ, SIG_IGN);
};

// Exchanges two names again and again, as a hostile process would.
class Swapping {
 public:
  Swapping(std::string one, std::string other)
      : thread_([this, a = std::move(one), b = std::move(other)] {
          while (!stop_) EXPECT_EQ(::renameat2(AT_FDCWD, a.c_str(), AT_FDCWD, b.c_str(), RENAME_EXCHANGE), 0);
        }) {}
  ~Swapping() {
    stop_ = true;
    thread_.join();
  }
  Swapping(const Swapping&) = delete;
  Swapping& operator=(const Swapping&) = delete;

 private:
  std::atomic<bool> stop_ = false;
  std::thread thread_;
};

}  // namespace holdfast::files
