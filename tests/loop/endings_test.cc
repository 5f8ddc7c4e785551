#include "loop/endings.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace holdfast::loop {
namespace {

class EndingsTest : public testing::Test {
 protected:
  void Add(const std::string& group) {
    endings_.Add(group, [this, group] { ended_.push_back(group); });
  }

  void AnswerWhileAlive(const std::string& alive) {
    endings_.Answer([&](const std::string& group) { return group == alive; });
  }

  Endings endings_;
  std::vector<std::string> ended_;
};

TEST_F(EndingsTest, AnswerAGroupOfWhichNothingIsAlive) {
  Add("a");
  Add("b");
  AnswerWhileAlive("a");
  EXPECT_EQ(ended_, std::vector<std::string>{"b"});
  EXPECT_TRUE(endings_.Contains("a"));
  EXPECT_FALSE(endings_.Contains("b"));
}

TEST_F(EndingsTest, AnswerEachCallbackOnce) {
  Add("a");
  Add("a");
  AnswerWhileAlive("");
  AnswerWhileAlive("");
  EXPECT_EQ(ended_, (std::vector<std::string>{"a", "a"}));
}

TEST_F(EndingsTest, LetACallbackAddAGroup) {
  endings_.Add("a", [this] { Add("b"); });
  AnswerWhileAlive("");
  EXPECT_TRUE(endings_.Contains("b"));
  EXPECT_TRUE(ended_.empty());
}

}  // namespace
}  // namespace holdfast::loop
