#include "sys/memory_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <gtest/gtest.h>
#include <string>

namespace holdfast::sys {
namespace {

TEST(MemoryFileTest, IsReadFromItsBeginning) {
  const auto file = MakeMemoryFile("test", "text");
  ASSERT_TRUE(file) << file.error().message;
  char text[8] = {};
  EXPECT_EQ(::read(file->get(), text, sizeof text), 4);
  EXPECT_EQ(std::string(text), "text");
}

TEST(MemoryFileTest, IsReadFromItsBeginningByWhoeverSharesIt) {
  const auto file = MakeMemoryFile("test", "");
  ASSERT_TRUE(file) << file.error().message;
  const OwnedFd shared(::dup(file->get()));
  ASSERT_TRUE(FillMemoryFile(file->get(), "text"));
  char text[8] = {};
  EXPECT_EQ(::read(shared.get(), text, sizeof text), 4);
  EXPECT_EQ(std::string(text), "text");
}

TEST(MemoryFileTest, HoldsALongText) {
  const auto file = MakeMemoryFile("test", std::string(3 << 20, 'x'));
  ASSERT_TRUE(file) << file.error().message;
  EXPECT_EQ(::lseek(file->get(), 0, SEEK_END), 3 << 20);
}

TEST(MemoryFileTest, IsNotInherited) {
  const auto file = MakeMemoryFile("test", "");
  ASSERT_TRUE(file) << file.error().message;
  EXPECT_EQ(::fcntl(file->get(), F_GETFD), FD_CLOEXEC);
}

}  // namespace
}  // namespace holdfast::sys
