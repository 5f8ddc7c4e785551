#include "sys/vfork_child.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <gtest/gtest.h>

namespace holdfast::sys {
namespace {

constexpr size_t kStackSize = 64 << 10;

int StatusOf(pid_t child) {
  int status = 0;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

TEST(VforkChildTest, WhatItWritesIsSeenHereAndWhatItReturnsIsItsStatus) {
  pid_t written = 0;
  auto body = [&] {
    written = ::getpid();
    return 7;
  };
  const auto child = StartOnSharedMemory(body, kStackSize);
  ASSERT_TRUE(child) << child.error().message;
  EXPECT_NE(*child, ::getpid());
  EXPECT_EQ(written, *child) << "waited for";
  EXPECT_EQ(StatusOf(*child), 7);
}

TEST(VforkChildTest, GoesOnWhenTheChildHasExecutedAProgram) {
  auto body = [] {
    ::execl("/bin/sh", "sh", "-c", "exit 3", nullptr);
    return 1;
  };
  const auto child = StartOnSharedMemory(body, kStackSize);
  ASSERT_TRUE(child) << child.error().message;
  EXPECT_EQ(StatusOf(*child), 3);
}

TEST(VforkChildTest, OnlyASharedTableKeepsWhatTheChildOpens) {
  int opened = -1;
  auto body = [&] {
    opened = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
    ::execl("/bin/true", "true", nullptr);
    return 1;
  };
  for (const Descriptors descriptors : {Descriptors::kCopied, Descriptors::kShared}) {
    const auto child = StartOnSharedMemory(body, kStackSize, descriptors);
    ASSERT_TRUE(child) << child.error().message;
    EXPECT_EQ(StatusOf(*child), 0);
    EXPECT_EQ(::fcntl(opened, F_GETFD) >= 0, descriptors == Descriptors::kShared);
    if (descriptors == Descriptors::kShared) ::close(opened);
  }
}

TEST(VforkChildTest, TheStackHasTheSizeThatWasAskedFor) {
  auto body = [] {
    volatile char large[kStackSize / 2];
    for (size_t i = 0; i < sizeof large; ++i) large[i] = static_cast<char>(i);
    return static_cast<int>(large[5]);
  };
  const auto child = StartOnSharedMemory(body, kStackSize + 1);
  ASSERT_TRUE(child) << child.error().message;
  EXPECT_EQ(StatusOf(*child), 5);
}

}  // namespace
}  // namespace holdfast::sys
