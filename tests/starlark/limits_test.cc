// Limits: no text makes the interpreter take much time, memory or stack. The tests run under AddressSanitizer too,
// whose stack frames are large.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "program.h"

namespace holdfast::starlark {
namespace {

using testing::AnyOf;

std::string Repeated(std::string_view text, size_t times) {
  std::string repeated;
  for (size_t count = 0; count < times; ++count) repeated += text;
  return repeated;
}

// Limits that a program reaches soon also under a sanitizer.
constexpr Limits kSmall{.steps = 200'000, .memory_bytes = size_t{2} << 20};

std::string Message(const std::string& text, const Limits& limits = kSmall) {
  const ProgramRun run = RunProgram(text, limits);
  return run.diagnostic ? run.diagnostic->message : "no mistake";
}

constexpr const char* kNesting = "more than 200 levels of nesting";
constexpr const char* kDepth = "the calls and expressions are nested too deeply";
constexpr const char* kMemory = "the program needs too much memory";
constexpr const char* kSteps = "the program takes too many steps";

TEST(LimitsTest, BoundTheNestingOfTheText) {
  constexpr size_t kMany = 20'000;
  for (const std::string& text : {Repeated("(", kMany),
                                  Repeated("[", kMany),
                                  Repeated("{1:", kMany),
                                  Repeated("not ", kMany),
                                  Repeated("-", kMany),
                                  Repeated("f(", kMany),
                                  Repeated("x[", kMany),
                                  Repeated("lambda: ", kMany),
                                  Repeated("lambda x=", kMany),
                                  Repeated("1 if 1 else ", kMany),
                                  Repeated("[x for x in ", kMany),
                                  Repeated("[[x for x in y] for y in ", kMany),
                                  "1" + Repeated(" + 1", kMany),
                                  "1" + Repeated(" or 1", kMany),
                                  "f" + Repeated("()", kMany),
                                  "f" + Repeated(".a", kMany),
                                  "f" + Repeated("[0]", kMany),
                                  "[1 " + Repeated("for x in [] ", kMany),
                                  "[1 for x in [] " + Repeated("if 1 ", kMany),
                                  "def f(x: " + Repeated("[", kMany)}) {
    EXPECT_EQ(Message(text), kNesting) << text.substr(0, 30);
  }
  std::string blocks;
  for (size_t depth = 0; depth < 1000; ++depth) blocks += std::string(depth, ' ') + "if 1:\n";
  EXPECT_EQ(Message(blocks), kNesting);
}

TEST(LimitsTest, LeaveRoomForWhatPeopleWrite) {
  EXPECT_EQ(Message("x = " + Repeated("[", 90) + Repeated("]", 90) + "\n"), "no mistake");
  EXPECT_EQ(Message("x = 'a'" + Repeated(" + 'a'", 150) + "\n"), "no mistake");
  EXPECT_EQ(Message("x = 0\nif x: pass\n" + Repeated("elif x: pass\n", 500)), "no mistake");
  EXPECT_EQ(Message("x = [" + Repeated("'abc', ", 50'000) + "]\n"), "no mistake");
  EXPECT_EQ(Message("def f(n):\n  if n:\n    return 1 + f(n - 1)\n  return 0\nf(150)\n"), "no mistake");
}

TEST(LimitsTest, BoundTheDepthOfCalls) {
  EXPECT_EQ(Message("def f(n):\n    f(n+1)\nf(3)\n"), kDepth);
  EXPECT_EQ(Message("def f(n):\n  return [[[[{1: f(n)}]]]]\nf(3)\n"), kDepth);
  EXPECT_EQ(Message("def f(n):\n  return [f(x) for x in [1] for y in [2] if [f(z) for z in [1]]]\nf(3)\n"), kDepth);
  EXPECT_EQ(Message("def f(n):\n  return sorted([1], key=f)\nf(3)\n"), kDepth);
  EXPECT_EQ(Message("def f(n):\n  return max([1], key=lambda x: f(x))\nf(3)\n"), kDepth);
  EXPECT_EQ(Message("f = lambda f: f(f)\nf(f)\n"), kDepth);
  EXPECT_EQ(Message("def f():\n" + Repeated("  if 1: f()\n", 3) + "f()\n"), kDepth);
}

TEST(LimitsTest, BoundTheDepthOfValues) {
  const std::string deep = "x = []\nfor i in range(1000): x = [x]\n";
  EXPECT_EQ(Message(deep + "y = []\nfor i in range(1000): y = [y]\nx == y\n"),
            "the values are nested too deeply to be compared");
  EXPECT_EQ(Message(deep + "emit(str(x))\nemit(x)\n"), "no mistake");
  EXPECT_EQ(Message("x = ()\nfor i in range(1000): x = (x,)\n{x: 1}\n"),
            "the values are nested too deeply to be compared");
  EXPECT_EQ(Message("x = ()\nfor i in range(1000): x = (x,)\nx < x\n"),
            "the values are nested too deeply to be compared");
}

TEST(LimitsTest, BoundTheSteps) {
  EXPECT_EQ(Message("for i in range(1000000000000): pass\n"), kSteps);
  EXPECT_EQ(Message("[0 for i in range(1000000000000) if 0]\n"), kSteps);
  EXPECT_THAT(Message("def f(n):\n  if n:\n    f(n - 1)\n    f(n - 1)\nf(100)\n"), AnyOf(kSteps, kMemory));
  EXPECT_EQ(Message("x = list(range(10000))\nfor i in range(100000): -1 in x\n"), kSteps);
  EXPECT_THAT(Message("x = 'a' * 100000\nfor i in range(100000): x == 'a' * 1 + x[1:]\n"), AnyOf(kSteps, kMemory));
  EXPECT_EQ(Message("x = 'a' * 100000 + 'b'\nx.find('a' * 50000 + 'c')\n"), kSteps);
  EXPECT_EQ(Message("x = list(range(10000))\nfor i in range(100000): x.insert(0, x.pop())\n"), kSteps);
  EXPECT_EQ(Message("x = 'a' * 100000\nfor i in range(1000000): len(x)\n"), kSteps);
  // The text itself costs a step for each four bytes.
  EXPECT_EQ(Message("x = 1\nx = 2\n", {.steps = 2}), kSteps);
  EXPECT_EQ(Message("x = 1\nx = 2\n", {.steps = 6}), kSteps);
  EXPECT_EQ(Message("x = 1\nx = 2\n", {.steps = 7}), "no mistake");
}

TEST(LimitsTest, BoundTheStepsOfWorkOnTexts) {
  for (const char* expression : {"x.count('')", "x.find('')", "x.rfind('')", "x.find('', 19999)", "x.removeprefix(x)",
                                 "x.removesuffix(x)", "x[5]", "x[1:2]", "x.strip('é')", "x.strip()", "x.partition('b')",
                                 "x.rpartition('b')", "'b' in x", "x.isalpha()"}) {
    const std::string program = "x = 'é' * 20000\nfor i in range(1000): ";
    EXPECT_EQ(Message(program + expression + "\n"), kSteps) << expression;
  }
}

TEST(LimitsTest, BoundTheMemory) {
  EXPECT_EQ(Message("x = 'x' * 1000000000\n"), kMemory);
  EXPECT_EQ(Message("x = [0] * 9223372036854775807\n"), kMemory);
  EXPECT_EQ(Message("x = 'ab' * 9223372036854775807\n"), kMemory);
  EXPECT_EQ(Message("x = [0]\nfor i in range(100): x = x + x\n"), kMemory);
  EXPECT_EQ(Message("x = [0]\nfor i in range(100): x.extend(x)\n"), kMemory);
  EXPECT_EQ(Message("x = 'a'\nfor i in range(100): x += x\n"), kMemory);
  EXPECT_THAT(Message("x = 'a'\nfor i in range(100): x = x.replace('a', 'aa')\n"), AnyOf(kMemory, kSteps));
  EXPECT_EQ(Message("x = 'a' * 1000\nfor i in range(100): x = x.join([x, x, x])\n"), kMemory);
  EXPECT_EQ(Message("x = 'a' * 1000\nfor i in range(100): x = '%s%s' % (x, x)\n"), kMemory);
  EXPECT_EQ(Message("x = 'a' * 1000\nfor i in range(100): x = '{0}{0}'.format(x)\n"), kMemory);
  EXPECT_EQ(Message("x = 'a' * 1000\nfor i in range(100): x = f'{x}{x}'\n"), kMemory);
  EXPECT_THAT(Message("list(range(1000000000))\n"), AnyOf(kMemory, kSteps));
  EXPECT_THAT(Message("len(*range(1000000000))\n"), AnyOf(kMemory, kSteps));
  EXPECT_THAT(Message("x = []\nfor i in range(10000000): x.append(i)\n"), AnyOf(kMemory, kSteps));
  EXPECT_THAT(Message("x = {}\nfor i in range(10000000): x[i] = i\n"), AnyOf(kMemory, kSteps));
  EXPECT_EQ(Message("x = [0]\nfor i in range(40): x = [x, x]\nstr(x)\n"), "the text of the list is too long");
  EXPECT_EQ(Message("x = 'abcd'\n", {.memory_bytes = 0}), kMemory);
}

TEST(LimitsTest, BoundTheText) {
  EXPECT_EQ(RunProgram("x = 1\n", {.text_bytes = 5}).Mistake(), "1:1: the file has more than 5 bytes");
  EXPECT_EQ(RunProgram("x = 1\n", {.text_bytes = 6}).Mistake(), "");
}

}  // namespace
}  // namespace holdfast::starlark
