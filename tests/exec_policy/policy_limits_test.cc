// The limits of a whole policy. What the functions of rules keep and compare is charged like the values of a program,
// so that no rules file takes much time or memory.
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "exec_policy/rules_of.h"

namespace holdfast::exec_policy {
namespace {

using ::testing::AnyOf;
using ::testing::HasSubstr;

// Limits that are reached soon also under a sanitizer.
constexpr starlark::Limits kSmall{.steps = 1'000'000, .memory_bytes = size_t{4} << 20};

std::string MistakeWithin(const starlark::Limits& limits, const std::vector<std::string>& texts) {
  std::vector<RulesText> files;
  for (const std::string& text : texts) files.push_back({"test.rules", text});
  const auto policy = Policy::Parse(files, limits);
  return policy ? "no mistake" : policy.error().message;
}

TEST(PolicyLimitsTest, BoundWhatRulesKeepAndCompare) {
  for (const char* text : {
           // Each program has a copy of the other words, and a place in the index for each second word.
           "a = [str(i) for i in range(300)]\n[prefix_rule([a, a]) for i in range(60)]",
           "a = ['x' * 1000] * 100\nprefix_rule([a, 'b', a])",
           "[prefix_rule(['a']) for i in range(100000)]",
           "prefix_rule([['a'] * 3000], justification = 'x' * 10000)",
           // Examples
           "a = ['x'] * 2000\n[prefix_rule(['x'], match = a) for i in range(300)]",
           "prefix_rule(['a'], match = ['a ' * 150000])",
           "a = [str(i) for i in range(1500)]\nprefix_rule([a], match = ['0 b'] * 10000, not_match = ['x'] * 10000)",
           // Paths and hosts
           "p = ['/' + 'a/' * 900 + 'x'] * 1000\n[host_executable('x', p) for i in range(1000)]",
           "[host_executable('a' + str(i), []) for i in range(100000)]",
           "[network_rule('a', 'http', 'allow') for i in range(100000)]",
       }) {
    EXPECT_THAT(MistakeWithin(kSmall, {text}),
                AnyOf(HasSubstr("the program needs too much memory"), HasSubstr("the program takes too many steps")))
        << text;
  }
}

TEST(PolicyLimitsTest, AreSharedByAllFiles) {
  const std::string loop = "for i in range(100000): pass", rules = "[prefix_rule(['a']) for i in range(6000)]";
  EXPECT_EQ(MistakeWithin(kSmall, {loop}), "no mistake");
  EXPECT_EQ(MistakeWithin(kSmall, {rules}), "no mistake");
  EXPECT_THAT(MistakeWithin(kSmall, std::vector(20, loop)), HasSubstr("too"));
  EXPECT_THAT(MistakeWithin(kSmall, std::vector(20, rules)), HasSubstr("too"));
}

TEST(PolicyLimitsTest, LeaveRoomForTenThousandRules) {
  const Policy policy = RulesOf("[prefix_rule(['p%d' % i, ['a', 'b']], match = ['p%d a' % i]) for i in range(10000)]");
  EXPECT_EQ(policy.rule_count(), 10'000u);
}

TEST(PolicyLimitsTest, NoPathIsLongerThanAPathCanBe) {
  EXPECT_THAT(MistakeIn("host_executable('x', ['/' + 'a/' * 5000 + 'x'])"), HasSubstr("longer than a path can be"));
}

TEST(PolicyLimitsTest, AMistakeIsShownInAShortTextWithoutControlCharacters) {
  for (const char* text : {"prefix_rule(['a'], '\\x1b[2J' + 'x' * 1000000)", "x = 1 # \x1b[2J\x1b]0;x\x07 \u009b\nx.y",
                           "prefix_rule([1]) # \x1b[2J"}) {
    const std::string mistake = MistakeIn(text);
    EXPECT_THAT(mistake, HasSubstr("test.rules:")) << text;
    EXPECT_EQ(mistake.find_first_of("\x1b\x07\u009b"), std::string::npos) << mistake;
    EXPECT_LT(mistake.size(), 3000u) << text;
  }
}

TEST(PolicyLimitsTest, TheColumnInALongLineCountsCharacters) {
  std::string text = "x = '";
  for (int i = 0; i < 300; ++i) text += "é";
  EXPECT_THAT(MistakeIn("# one\n" + text + "'; prefix_rule([])"), HasSubstr("test.rules:2:309"));
}

}  // namespace
}  // namespace holdfast::exec_policy
