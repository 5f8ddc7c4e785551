// Policies and commands in short form, for tests.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "exec_policy/policy.h"
#include "exec_policy/shell_words.h"

namespace holdfast::exec_policy {

// Expects that the texts are valid. They are named test.rules, test2.rules and so on.
inline Policy RulesOfFiles(const std::vector<std::string>& texts) {
  std::vector<RulesText> files;
  for (const std::string& text : texts) {
    const std::string number = files.empty() ? "" : std::to_string(files.size() + 1);
    files.push_back({"test" + number + ".rules", text});
  }
  auto policy = Policy::Parse(files);
  EXPECT_TRUE(policy.has_value()) << policy.error().message;
  return policy ? *std::move(policy) : Policy();
}

inline Policy RulesOf(const std::string& text) { return RulesOfFiles({text}); }

// Returns the message of the error; empty if the text is valid.
inline std::string MistakeIn(const std::string& text) {
  const std::vector<RulesText> files = {{"test.rules", text}};
  const auto policy = Policy::Parse(files);
  return policy ? "" : policy.error().message;
}

inline std::vector<std::string> WordsOf(std::string_view line) {
  return SplitWords(line).value_or(std::vector<std::string>());
}

}  // namespace holdfast::exec_policy
