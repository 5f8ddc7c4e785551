#include "sys/executable_image.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <span>
#include <string>

#include <gtest/gtest.h>

#include "support/contents.h"
#include "sys/io.h"

namespace holdfast::sys {
namespace {

Result<OwnedFd> ImageOf(const std::string& bytes) {
  return MakeExecutableImage("image-test", std::as_bytes(std::span(bytes)));
}

TEST(ExecutableImageTest, RunsByItsDescriptor) {
  auto image = ImageOf(support::Contents("/bin/true"));
  ASSERT_TRUE(image) << image.error().message;
  const pid_t child = ::fork();
  if (child == 0) {
    char name[] = "true";
    char* argv[] = {name, nullptr};
    char* envp[] = {nullptr};
    ::execveat(image->get(), "", argv, envp, AT_EMPTY_PATH);
    ::_exit(99);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

TEST(ExecutableImageTest, CannotBeChanged) {
  auto image = ImageOf("bytes");
  ASSERT_TRUE(image);
  EXPECT_EQ(Write(image->get(), "x", 1), -EPERM);
  EXPECT_NE(::ftruncate(image->get(), 0), 0);
  EXPECT_NE(::fcntl(image->get(), F_ADD_SEALS, F_SEAL_FUTURE_WRITE), 0);
}

TEST(ExecutableImageTest, IsClosedOnExec) {
  auto image = ImageOf("bytes");
  ASSERT_TRUE(image);
  EXPECT_TRUE(::fcntl(image->get(), F_GETFD) & FD_CLOEXEC);
}

}  // namespace
}  // namespace holdfast::sys
