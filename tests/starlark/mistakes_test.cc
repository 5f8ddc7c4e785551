// Mistakes of a text, with their exact place, and how they are shown.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "program.h"

namespace holdfast::starlark {
namespace {

struct Case {
  std::string text, mistake;
};

void Check(const std::vector<Case>& cases) {
  for (const Case& one : cases) EXPECT_EQ(RunProgram(one.text).Mistake(), one.mistake) << one.text;
}

TEST(MistakesTest, ShowTheLineWithACaret) {
  const ProgramRun run = RunProgram("x = 1\r\ny = \u00e9x + foo\r\n");
  ASSERT_TRUE(run.diagnostic);
  EXPECT_EQ(run.diagnostic->Text(),
            "error: an unexpected character `\u00e9`\n"
            " --> test.rules:2:5\n"
            "  |\n"
            "2 | y = \u00e9x + foo\n"
            "  |     ^\n");
}

TEST(MistakesTest, ShowTheCallsAround) {
  const ProgramRun run = RunProgram("def f(x):\n    return x + 1\ndef g(): f('a')\n\n\n\n\n\n\nx = g()\n");
  ASSERT_TRUE(run.diagnostic);
  EXPECT_EQ(run.diagnostic->Text(),
            "error: `+` does not take values of the types string and int\n"
            " --> test.rules:2:14\n"
            "  |\n"
            "2 |     return x + 1\n"
            "  |              ^\n"
            " in f, called at test.rules:3:10\n"
            " in g, called at test.rules:10:5\n");
}

TEST(MistakesTest, ShowPartOfALongLine) {
  const ProgramRun run = RunProgram("x = '" + std::string(1000, 'a') + "' + 5 + '" + std::string(1000, 'b') + "'\n");
  ASSERT_TRUE(run.diagnostic);
  EXPECT_EQ(run.diagnostic->position, (Position{1, 1008}));
  const std::string text = run.diagnostic->Text();
  EXPECT_LT(text.size(), 600u);
  const size_t caret = text.rfind('^') - text.rfind('\n', text.rfind('^'));
  const size_t line = text.find("1 | ");
  EXPECT_EQ(text.substr(line + caret - 1, 3), "+ 5");
}

TEST(MistakesTest, ShowAPlaceAfterTheRun) {
  const Source source{.name = "a.rules", .text = "x\ny = 2\n"};
  EXPECT_EQ(DiagnosticAt(source, {2, 3}, "why").Text(), "error: why\n --> a.rules:2:3\n  |\n2 | y = 2\n  |   ^\n");
  EXPECT_EQ(DiagnosticAt(source, {9, 1}, "why").source_line, "");
}

TEST(MistakesTest, RefuseCharacters) {
  Check({{"def f():\n\tpass\n", "2:1: a tab; use spaces"},
         {"x =\t1\n", "1:4: a tab; use spaces"},
         {"\xef\xbb\xbfx = 1\n", "1:1: a byte order mark"},
         {"x = 1\ry = 2\n", "1:6: a carriage return without a line feed"},
         {"x = $\n", "1:5: an unexpected character `$`"},
         {"x = \x01\n", "1:5: an unexpected character with the code 1"},
         {std::string("x = 1\0\n", 7), "1:6: an unexpected character with the code 0"},
         {"x = 1 / 2\n", "1:7: `/` makes floating-point numbers, which there are not; use `//`"},
         {"x = 1.5\n", "1:5: a floating-point number; there are only whole numbers"},
         {"x = '\xff'\n", "1:6: the text is not UTF-8"}});
}

TEST(MistakesTest, RefuseOtherLanguages) {
  Check({{"while True:\n  pass\n", "1:1: `while` is not part of the language of rules"},
         {"load('a', 'b')\n", "1:1: `load` is not part of the language of rules"},
         {"class A: pass\n", "1:1: `class` is not part of the language of rules"},
         {"import os\n", "1:1: `import` is not part of the language of rules"},
         {"try:\n  pass\n", "1:1: `try` is not part of the language of rules"},
         {"x = 1 is 1\n", "1:7: `is` is not part of the language of rules"},
         {"print('a')\n", "1:1: the name `print` is not defined"},
         {"x = json.encode(1)\n", "1:5: the name `json` is not defined"},
         {"x = struct(a=1)\n", "1:5: the name `struct` is not defined"},
         {"x = list(set(['b']))\n", "1:10: the name `set` is not defined"},
         {"x = {1, 2}\n", "1:7: expected `:` behind the key of a dict, found `,`"},
         {"x = 2 ** 3\n", "1:7: expected the end of the line, found `**`"},
         {"any(x for x in [])\n", "1:7: expected `,` or `)`, found `for`"}});
}

TEST(MistakesTest, RefuseBadStrings) {
  Check({{"x = 'a\n'\n", "1:5: the string has no end"},
         {"x = '''a\n", "1:5: the string has no end"},
         {"x = 'a\\", "1:5: the string has no end"},
         {"x = b'a'\n", "1:5: `b` is no prefix of a string; there are `r` and `f`"},
         {"x = 'a' 'b'\n", "1:9: two strings side by side are not joined; put `+` between them"},
         {"x = ['a'\n 'b']\n", "2:2: two strings side by side are not joined; put `+` between them"},
         {"x = 'ab\\q'\n", "1:8: the escape `\\q` is unknown; a backslash is written as `\\\\`"},
         {"x = '\\x4'\n", "1:6: the escape needs 2 digits"},
         {"x = '\\u12'\n", "1:6: the escape needs 4 digits"},
         {"x = '\\ud800'\n", "1:6: the escape is the number of no character"},
         {"x = '\\U00110000'\n", "1:6: the escape is the number of no character"},
         {"x = 1\ny = f'a{x + 1}'\n", "2:9: only a name can stand in the braces of an f-string"},
         {"y = f'a{x'\n", "1:8: the brace is not closed; a brace is written as `{{`"},
         {"y = f'a}b'\n", "1:8: the brace closes nothing; a brace is written as `}}`"},
         {"y = f'ab{c}'\n", "1:10: the name `c` is not defined"},
         {"y = f'a\\q'\n", "1:8: the escape `\\q` is unknown; a backslash is written as `\\\\`"}});
}

TEST(MistakesTest, RefuseBadBrackets) {
  Check({{"oops(\n", "2:1: `)` is missing at the end of the file"},
         {"x = [1, 2\ny = 3\n", "2:1: expected `,` or `]`, found `y`"},
         {"x = (1]\n", "1:7: `]` where `)` is expected"},
         {"x = 1)\n", "1:6: `)` closes nothing"},
         {"x = {'a': 1, 'b'}\n", "1:17: expected `:` behind the key of a dict, found `}`"},
         {"x = [1 2]\n", "1:8: expected `,` or `]`, found `2`"},
         {"x = [1,, 2]\n", "1:8: expected an expression, found `,`"},
         {"len(,)\n", "1:5: expected an expression, found `,`"},
         {"x = [x for x in [] x]\n", "1:20: expected `for`, `if` or the end of the comprehension, found `x`"},
         {"x = {'a': 1, 'a': 2}\n", "1:14: the key \"a\" stands in the dict twice"}});
}

TEST(MistakesTest, RefuseBadIndentation) {
  Check({{"  x = 1\n", "1:3: the line is indented without a reason"},
         {"x = 1\n  y = 2\n", "2:3: the line is indented without a reason"},
         {"if True:\nx = 1\n", "2:1: expected an indented line, found `x`"},
         {"if True:\n", "2:1: expected an indented line, found the end of the file"},
         {"if True:\n    x = 1\n  y = 2\n", "3:3: the indentation is that of no line above"},
         {"if True:\n  x = 1\n    y = 2\n", "3:5: the line is indented without a reason"},
         {"else:\n  pass\n", "1:1: expected an expression, found `else`"}});
}

TEST(MistakesTest, RefuseBadStatements) {
  Check({{"x = \n", "1:5: expected an expression, found the end of the line"},
         {"x y\n", "1:3: expected the end of the line, found `y`"},
         {"def (): pass\n", "1:5: expected the name of the function, found `(`"},
         {"def f: pass\n", "1:6: expected `(`, found `:`"},
         {"def f()\n  pass\n", "1:8: expected `:`, found the end of the line"},
         {"for x of y: pass\n", "1:7: expected `in`, found `of`"},
         {"if x = 1: pass\n", "1:6: expected `:`, found `=`"},
         {"x = 1 if 2\n", "1:11: expected `else`, found the end of the line"},
         {"x = 1 < 2 < 3\n", "1:11: comparisons do not chain; join two of them with `and`"},
         {"x = 1 in [] == 3\n", "1:13: comparisons do not chain; join two of them with `and`"},
         {"x = 1 not 2\n", "1:11: expected `in` behind `not`, found `2`"},
         {"x = 1 == not 2\n", "1:10: expected an expression, found `not`"},
         {"x.5\n", "1:3: expected a name behind `.`, found `5`"},
         {"x = [1][1:2:3:4]\n", "1:14: expected `]`, found `:`"}});
}

}  // namespace
}  // namespace holdfast::starlark
