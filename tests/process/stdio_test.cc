#include "process/stdio.h"

#include <fcntl.h>
#include <unistd.h>

#include <filesystem>

#include <gtest/gtest.h>

#include "sys/io.h"

namespace holdfast::process {
namespace {

bool IsNonBlocking(const OwnedFd& fd) { return (::fcntl(fd.get(), F_GETFL) & O_NONBLOCK) != 0; }
bool IsCloseOnExec(const OwnedFd& fd) { return (::fcntl(fd.get(), F_GETFD) & FD_CLOEXEC) != 0; }

std::string Target(const OwnedFd& fd) {
  return std::filesystem::read_symlink("/proc/self/fd/" + std::to_string(fd.get())).string();
}

Stdio Open(const Io& io) {
  auto stdio = OpenStdio(io);
  EXPECT_TRUE(stdio);
  return *std::move(stdio);
}

// The command's ends block, as programs expect; the server's ends do not.
void ExpectFlags(const Stdio& stdio) {
  for (const OwnedFd* fd : {&stdio.child_in, &stdio.child_out, &stdio.child_err}) {
    EXPECT_TRUE(fd->is_open());
    EXPECT_FALSE(IsNonBlocking(*fd));
    EXPECT_TRUE(IsCloseOnExec(*fd));
  }
  for (const OwnedFd* fd : {&stdio.input, &stdio.output, &stdio.error}) {
    if (!fd->is_open()) continue;
    EXPECT_TRUE(IsNonBlocking(*fd));
    EXPECT_TRUE(IsCloseOnExec(*fd));
  }
}

TEST(StdioTest, ReadsDevNullWithoutInput) {
  const Stdio stdio = Open(Pipes{});
  ExpectFlags(stdio);
  EXPECT_FALSE(stdio.input.is_open());
  EXPECT_EQ(Target(stdio.child_in), "/dev/null");
}

TEST(StdioTest, ConnectsAPipePerStream) {
  const Stdio stdio = Open(Pipes{Stdin::kPipe});
  ExpectFlags(stdio);
  EXPECT_EQ(Target(stdio.input), Target(stdio.child_in));
  EXPECT_EQ(Target(stdio.output), Target(stdio.child_out));
  EXPECT_EQ(Target(stdio.error), Target(stdio.child_err));
  EXPECT_NE(Target(stdio.output), Target(stdio.error));
}

TEST(StdioTest, ConnectsOneTerminalToAllThree) {
  const Stdio stdio = Open(Terminal{});
  ExpectFlags(stdio);
  for (const OwnedFd* fd : {&stdio.child_in, &stdio.child_out, &stdio.child_err}) EXPECT_TRUE(::isatty(fd->get()));
  EXPECT_EQ(Target(stdio.child_in), Target(stdio.child_err));
  EXPECT_TRUE(stdio.input.is_open());
  EXPECT_TRUE(stdio.output.is_open());
  EXPECT_FALSE(stdio.error.is_open());
}

}  // namespace
}  // namespace holdfast::process
