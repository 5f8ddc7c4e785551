// Expressions: a table of each group, with the repr of their values.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "program.h"

namespace holdfast::starlark {
namespace {

struct Case {
  std::string expression, value;
};

void Check(const std::vector<Case>& cases) {
  for (const Case& one : cases) EXPECT_EQ(ValueOf(one.expression), one.value) << one.expression;
}

TEST(ExpressionsTest, ReadLiterals) {
  Check({{"None", "None"},
         {"True", "True"},
         {"False", "False"},
         {"0", "0"},
         {"0x1F", "31"},
         {"0o17", "15"},
         {"0b101", "5"},
         {"9223372036854775807", "9223372036854775807"},
         {"()", "()"},
         {"(1,)", "(1,)"},
         {"(1, 2)", "(1, 2)"},
         {"(1)", "1"},
         {"[]", "[]"},
         {"[1, [2], ]", "[1, [2]]"},
         {"{}", "{}"},
         {"{'a': 1, 'b': [2],}", R"({"a": 1, "b": [2]})"}});
}

TEST(ExpressionsTest, ReadStrings) {
  Check({{R"("a'b")", R"("a'b")"},
         {R"('a"b')", R"("a\"b")"},
         {R"('''a'b''')", R"("a'b")"},
         {"\"\"\"a\nb\"\"\"", R"("a\nb")"},
         {"\"\"\"a\r\nb\"\"\"", R"("a\nb")"},
         {R"(r"a\b")", R"("a\\b")"},
         {"r'''a\r\nb'''", R"("a\nb")"},
         {R"("\t\n\\\'\"")", R"("\t\n\\'\"")"},
         {R"("\a\b\f\v\r" == chr(7) + chr(8) + chr(12) + chr(11) + chr(13))", "True"},
         {R"("\x41\u00e9\U0001F600")", "\"A\u00e9\U0001F600\""},
         {R"("\101\0x")", R"("A\x00x")"},
         {R"("\xe9")", "\"\u00e9\""},
         {"\"a\\\nb\"", R"("ab")"},
         {"\"\u00e9\"", "\"\u00e9\""}});
}

TEST(ExpressionsTest, CalculateWithWholeNumbers) {
  Check({{"1 + 2 * 3", "7"},     {"(1 + 2) * 3", "9"}, {"7 - 2 - 1", "4"}, {"7 // 2", "3"},
         {"-7 // 2", "-4"},      {"7 // -2", "-4"},    {"7 % 3", "1"},     {"-7 % 3", "2"},
         {"7 % -3", "-2"},       {"-6 % 3", "0"},      {"- -3", "3"},      {"+3", "3"},
         {"~5", "-6"},           {"6 & 3", "2"},       {"6 | 1", "7"},     {"6 ^ 3", "5"},
         {"1 | 2 ^ 3 & 2", "1"}, {"1 << 4", "16"},     {"-16 >> 2", "-4"}, {"1 + 1 << 2", "8"}});
}

TEST(ExpressionsTest, StopAtNumbersThatDoNotFit) {
  const std::string overflow = "the number does not fit into 64 bits";
  Check({{"9223372036854775807 + 1", overflow},
         {"-9223372036854775807 - 2", overflow},
         {"4294967296 * 4294967296", overflow},
         {"1 << 63", overflow},
         {"(-9223372036854775807 - 1) // -1", overflow},
         {"-(-9223372036854775807 - 1)", overflow},
         {"abs(-9223372036854775807 - 1)", overflow},
         {"(-9223372036854775807 - 1) % -1", "0"},
         {"1 << 64", "a shift by 64 bits; 0 to 63 are possible"},
         {"1 >> -1", "a shift by -1 bits; 0 to 63 are possible"},
         {"1 // 0", "a division by zero"},
         {"1 % 0", "a division by zero"},
         {"9223372036854775808", "`9223372036854775808` is no whole number of 64 bits; octal numbers begin with `0o`"},
         {"012", "`012` is no whole number of 64 bits; octal numbers begin with `0o`"},
         {"12ab", "`12ab` is no whole number of 64 bits; octal numbers begin with `0o`"},
         {"0x-1", "`0x` is no whole number of 64 bits; octal numbers begin with `0o`"}});
}

TEST(ExpressionsTest, Compare) {
  Check({{"1 == 1", "True"},
         {"1 == True", "False"},
         {"1 != '1'", "True"},
         {"[1, (2, 'a')] == [1, (2, 'a')]", "True"},
         {"[1] == (1,)", "False"},
         {"{'a': 1, 'b': 2} == {'b': 2, 'a': 1}", "True"},
         {"{'a': 1} == {'a': 2}", "False"},
         {"range(3) == range(0, 3, 1)", "True"},
         {"range(0) == range(5, 1)", "True"},
         {"None == None", "True"},
         {"len == len", "True"},
         {"1 < 2", "True"},
         {"'a' < 'b'", "True"},
         {"[1, 2] < [1, 3]", "True"},
         {"[1] < [1, 0]", "True"},
         {"(2,) >= (1, 5)", "True"},
         {"False < True", "True"},
         {"2 <= 1", "False"},
         {"1 < 'a'", "values of the types int and string have no order"},
         {"None < None", "values of the types NoneType and NoneType have no order"},
         {"{} < {}", "values of the types dict and dict have no order"}});
}

TEST(ExpressionsTest, LookForItems) {
  Check({{"1 in [1, 2]", "True"},
         {"3 not in [1, 2]", "True"},
         {"not 3 in [1, 2]", "True"},
         {"'a' in {'a': 1}", "True"},
         {"'b' in 'abc'", "True"},
         {"'' in ''", "True"},
         {"4 in range(0, 10, 2)", "True"},
         {"5 in range(0, 10, 2)", "False"},
         {"4 in range(10, 0, -3)", "True"},
         {"'a' in range(3)", "False"},
         {"(1,) in [(1,)]", "True"},
         {"1 in 'a'", "`in` does not take values of the types int and string"},
         {"1 not in 5", "`not in` does not take values of the types int and int"},
         {"[] in {}", "a value of the type list cannot be the key of a dict"}});
}

TEST(ExpressionsTest, JoinTruths) {
  Check({{"1 and 2", "2"},
         {"0 and 1 // 0", "0"},
         {"'' or 'b'", R"("b")"},
         {"1 or 1 // 0", "1"},
         {"not 0", "True"},
         {"not not 'a'", "True"},
         {"True or False and False", "True"},
         {"not 1 == 2", "True"},
         {"1 if True else 1 // 0", "1"},
         {"1 if [] else 2 if () else 3", "3"},
         {"[bool(x) for x in [None, 0, '', [], (), {}, range(0), len, ' ', [0]]]",
          "[False, False, False, False, False, False, False, True, True, True]"}});
}

TEST(ExpressionsTest, JoinAndRepeatSequences) {
  Check({{"'a' + 'b'", R"("ab")"},
         {"[1] + [2]", "[1, 2]"},
         {"(1,) + (2,)", "(1, 2)"},
         {"'ab' * 3", R"("ababab")"},
         {"2 * [1, 2]", "[1, 2, 1, 2]"},
         {"(1,) * 0", "()"},
         {"'a' * -1", R"("")"},
         {"'' * 9223372036854775807", R"("")"},
         {"{'a': 1} | {'a': 2, 'b': 3}", R"({"a": 2, "b": 3})"},
         {"[1] + (2,)", "`+` does not take values of the types list and tuple"},
         {"'a' + 1", "`+` does not take values of the types string and int"},
         {"-'a'", "`-` does not take a value of the type string"},
         {"[1] * [2]", "`*` does not take values of the types list and list"}});
}

TEST(ExpressionsTest, TakeElements) {
  Check({{"[1, 2, 3][0]", "1"},
         {"[1, 2, 3][-1]", "3"},
         {"(1, 2)[1]", "2"},
         {"'a\u00e9b'[1]", "\"\u00e9\""},
         {"'a\u00e9b'[-1]", R"("b")"},
         {"range(10, 20)[3]", "13"},
         {"{'a': {'b': 1}}['a']['b']", "1"},
         {"{(1, 'x'): 2}[1, 'x']", "2"},
         {"[1][1]", "the index 1 is out of range; there are 1 elements"},
         {"[1][-2]", "the index -2 is out of range; there are 1 elements"},
         {"{}['a']", "the dict has no key \"a\""},
         {"[1]['a']", "an index is a number, not a value of the type string"},
         {"5[0]", "a value of the type int has no elements"}});
}

TEST(ExpressionsTest, TakeSlices) {
  Check({{"[0, 1, 2, 3][1:3]", "[1, 2]"},
         {"[0, 1, 2, 3][:2]", "[0, 1]"},
         {"[0, 1, 2, 3][2:]", "[2, 3]"},
         {"[0, 1, 2, 3][:]", "[0, 1, 2, 3]"},
         {"[0, 1, 2, 3][::2]", "[0, 2]"},
         {"[0, 1, 2, 3][::-1]", "[3, 2, 1, 0]"},
         {"[0, 1, 2, 3][-3:-1]", "[1, 2]"},
         {"[0, 1, 2, 3][3:1:-1]", "[3, 2]"},
         {"[0, 1][5:]", "[]"},
         {"[][::-1]", "[]"},
         {"(0, 1, 2)[1:]", "(1, 2)"},
         {"'a\u00e9bc'[1:3]", "\"\u00e9b\""},
         {"'a\u00e9b'[::-1]", "\"b\u00e9a\""},
         {"'abc'[None:2]", R"("ab")"},
         {"range(10)[2:8:3]", "range(2, 8, 3)"},
         {"list(range(10)[::-4])", "[9, 5, 1]"},
         {"[1][::0]", "the step of a slice cannot be zero"},
         {"[1]['a':]", "the bound of a slice is a number, not a value of the type string"},
         {"{}[1:]", "a value of the type dict has no elements"}});
}

TEST(ExpressionsTest, MakeListsAndDictsByComprehension) {
  Check({{"[x * 2 for x in [1, 2]]", "[2, 4]"},
         {"[x for x in range(6) if x % 2 if x > 1]", "[3, 5]"},
         {"[(x, y) for x in [1, 2] for y in range(x)]", "[(1, 0), (2, 0), (2, 1)]"},
         {"{k: v for k, v in [('a', 1), ('b', 2)]}", R"({"a": 1, "b": 2})"},
         {"[[y for y in range(x)] for x in range(3)]", "[[], [0], [0, 1]]"},
         {"[x for x, in [(1,), (2,)]]", "[1, 2]"},
         {"[a + c for [a, (b, c)] in [(1, (2, 3))]]", "[4]"},
         {"[x for x in {'a': 1}]", R"(["a"])"},
         {"[f(3) for f in [lambda x: x + 1, lambda x: x * 2]]", "[4, 6]"},
         {"[x for x in 'abc']", "a value of the type string has no items to go through"},
         {"[x for x in [x]]", "the name `x` is not defined"}});
}

TEST(ExpressionsTest, PutValuesIntoTexts) {
  Check({{"'%s-%d' % ('a', 1)", R"("a-1")"},
         {"'%s' % [1]", R"("[1]")"},
         {"'%r' % 'a'", R"("\"a\"")"},
         {"'%x %X %o %c %c %%' % (255, -255, 8, 65, 'b')", R"("ff -FF 10 A b %")"},
         {"'%s' % (1, 2)", "there are too many arguments for the format"},
         {"'%s %s' % 1", "there are too few arguments for the format"},
         {"'%d' % 'a'", "`%d` needs a number, not a value of the type string"},
         {"'%y' % 1", "`%` is followed by no conversion; there are s, r, d, x, X, o, c and %"},
         {"'%' % ()", "the format ends with `%`"},
         {"'{} {}'.format(1, 'a')", R"("1 a")"},
         {"'{1}{0}{x!r}{{}}'.format(1, 2, x='q')", R"("21\"q\"{}")"},
         {"'{}'.format()", "there are too few arguments for the format"},
         {"'{x}'.format()", "there is no argument `x`"},
         {"'{'.format()", "the format has a single brace"},
         {"'{:d}'.format(1)", "only a number or a name can stand in braces, not `:d`"}});
}

TEST(ExpressionsTest, PutNamesIntoFormatStrings) {
  const ProgramRun run =
      RunProgram("x = 'b'\nn = 3\nemit(f\"a{x}{n}{x!r}{ n !s}{{x}}\\t\")\nemit(fr'\\d{n}')\nemit(f'')\n");
  EXPECT_EQ(run.Mistake(), "");
  EXPECT_THAT(run.emitted, testing::ElementsAre("ab3\"b\"3{x}\t", "\\d3", ""));
}

TEST(ExpressionsTest, ShowCyclesAndDeepValues) {
  const ProgramRun run = RunProgram("x = [1]\nx.append(x)\nemit(str(len(repr(x)) < 1000))\n");
  EXPECT_EQ(run.Mistake(), "");
  EXPECT_THAT(run.emitted, testing::ElementsAre("True"));
  EXPECT_EQ(RunProgram("x = [1]\nx.append(x)\ny = [1]\ny.append(y)\nx == y\n").Mistake(),
            "5:3: the values are nested too deeply to be compared");
}

}  // namespace
}  // namespace holdfast::starlark
