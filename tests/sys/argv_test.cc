#include "sys/argv.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace holdfast::sys {
namespace {

TEST(ArgvTest, PointsToTheWordsAndEndsWithANullPointer) {
  const std::vector<std::string> words = {"sh", "", "a word"};
  const Argv argv(words);
  for (size_t i = 0; i < words.size(); ++i) EXPECT_EQ(argv.data()[i], words[i].c_str()) << "not a copy";
  EXPECT_EQ(argv.data()[words.size()], nullptr);
}

TEST(ArgvTest, OfNoWordsIsTheEndAlone) { EXPECT_EQ(Argv().data()[0], nullptr); }

}  // namespace
}  // namespace holdfast::sys
