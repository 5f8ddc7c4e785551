#include "cli/table/suggestion.h"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace holdfast::cli {
namespace {

const std::vector<std::string> kWords = {"run", "ps", "logs", "attach", "inspect", "completion"};

TEST(NearestWordTest, FindsTheWordThatWasMistyped) {
  for (const auto& [typed, meant] : std::vector<std::pair<std::string, std::string>>{{"lgos", "logs"},
                                                                                     {"log", "logs"},
                                                                                     {"rnu", "run"},
                                                                                     {"sp", "ps"},
                                                                                     {"atach", "attach"},
                                                                                     {"inspekt", "inspect"},
                                                                                     {"comp", "completion"}}) {
    EXPECT_EQ(NearestWord(typed, kWords), meant) << typed;
  }
}

TEST(NearestWordTest, GuessesNothingThatIsFarAway) {
  for (const char* typed : {"", "x", "frobnicate", "tail", "co"}) EXPECT_EQ(NearestWord(typed, kWords), "") << typed;
  EXPECT_EQ(NearestWord(std::string(100'000, 'x'), std::vector<std::string>{std::string(100'000, 'x')}), "");
}

}  // namespace
}  // namespace holdfast::cli
