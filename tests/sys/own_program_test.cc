#include "sys/own_program.h"

#include <sys/stat.h>

#include <gtest/gtest.h>

#include "sys/file_identity.h"

namespace holdfast::sys {
namespace {

TEST(OwnProgramTest, IsTheFileThatThisProcessHasExecuted) {
  struct stat by_name{}, by_kernel{};
  ASSERT_EQ(::stat(OwnProgram().c_str(), &by_name), 0) << OwnProgram();
  ASSERT_EQ(::stat("/proc/self/exe", &by_kernel), 0);
  EXPECT_TRUE(IsSameFile(by_name, by_kernel));
}

TEST(OwnProgramTest, LiesInItsDirectory) {
  const std::string directory = OwnDirectory();
  EXPECT_FALSE(directory.ends_with('/')) << directory;
  EXPECT_TRUE(OwnProgram().starts_with(directory + "/")) << directory;
  EXPECT_FALSE(OwnProgram().substr(directory.size() + 1).contains('/'));
}

}  // namespace
}  // namespace holdfast::sys
