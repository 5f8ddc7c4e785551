#include "sys/inherit.h"

#include <fcntl.h>

#include <gtest/gtest.h>

#include "sys/io.h"

namespace holdfast::sys {
namespace {

TEST(InheritTest, LetsProgramsInheritADescriptor) {
  const auto fd = OpenDevNull();
  ASSERT_TRUE(fd);
  ASSERT_EQ(::fcntl(fd->get(), F_GETFD), FD_CLOEXEC);
  ASSERT_TRUE(LetInherit(fd->get()));
  EXPECT_EQ(::fcntl(fd->get(), F_GETFD), 0);
}

TEST(InheritTest, NamesADescriptorThatIsNotOpen) {
  const auto let = LetInherit(-1);
  ASSERT_FALSE(let);
  EXPECT_EQ(let.error().message, "fcntl descriptor -1: Bad file descriptor");
}

}  // namespace
}  // namespace holdfast::sys
