// The builtins and the methods of each type.
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

// Returns the repr of x after a statement about it.
std::string Changed(const std::string& x, const std::string& statement) {
  const ProgramRun run = RunProgram("x = " + x + "\n" + statement + "\nemit(repr(x))\n");
  return run.diagnostic ? run.diagnostic->message : run.emitted.back();
}

TEST(BuiltinsTest, ConvertValues) {
  Check({{"str(1)", R"("1")"},
         {"str('a')", R"("a")"},
         {"str(['a'])", R"("[\"a\"]")"},
         {"repr('a\\n')", R"("\"a\\n\"")"},
         {"int('12')", "12"},
         {"int('-12')", "-12"},
         {"int('+12')", "12"},
         {"int('ff', 16)", "255"},
         {"int('0xff', 16)", "255"},
         {"int('0b11', 0)", "3"},
         {"int(True)", "1"},
         {"int('x')", "\"x\" is no whole number of 64 bits in base 10"},
         {"int('--1')", "\"--1\" is no whole number of 64 bits in base 10"},
         {"int('1', 1)", "the base of a number is 0 or from 2 to 36, not 1"},
         {"int([])", "int() needs a number, not a value of the type list"},
         {"bool()", "False"},
         {"list((1, 2))", "[1, 2]"},
         {"list()", "[]"},
         {"tuple([1])", "(1,)"},
         {"tuple({'a': 1})", R"(("a",))"},
         {"dict([('a', 1)], b=2)", R"({"a": 1, "b": 2})"},
         {"dict({'a': 1})", R"({"a": 1})"},
         {"dict([(1,)])", "an entry of a dict is made from 2 items, not from 1"},
         {"chr(233) + chr(65)", "\"\u00e9A\""},
         {"chr(0xd800)", "there is no character with the number 55296"},
         {"ord('\u20ac')", "8364"},
         {"ord('ab')", "ord() needs a string of one character"},
         {"type([])", R"("list")"},
         {"[type(x) for x in [None, True, 1, '', (), {}, range(1), len]]",
          R"(["NoneType", "bool", "int", "string", "tuple", "dict", "range", "function"])"}});
}

TEST(BuiltinsTest, WorkOnItems) {
  Check({{"len('a\u00e9')", "2"},
         {"len([1, 2])", "2"},
         {"len({'a': 1})", "1"},
         {"len(range(0, 10, 3))", "4"},
         {"len(1)", "a value of the type int has no length"},
         {"list(range(3))", "[0, 1, 2]"},
         {"list(range(1, 7, 2))", "[1, 3, 5]"},
         {"list(range(3, 0, -1))", "[3, 2, 1]"},
         {"range(1, 2, 0)", "the step of a range cannot be zero"},
         {"range(-9223372036854775807, 9223372036854775807)", "the range has too many numbers"},
         {"list(range(-9223372036854775807, 9223372036854775807, 9223372036854775807))", "[-9223372036854775807, 0]"},
         {"any([0, 2])", "True"},
         {"any([])", "False"},
         {"all([1, 0])", "False"},
         {"all([])", "True"},
         {"enumerate(['a', 'b'], 1)", R"([(1, "a"), (2, "b")])"},
         {"zip([1, 2, 3], ('a', 'b'))", R"([(1, "a"), (2, "b")])"},
         {"zip()", "[]"},
         {"reversed([1, 2])", "[2, 1]"},
         {"abs(-3)", "3"},
         {"hasattr('', 'join')", "True"},
         {"hasattr([], 'join')", "False"}});
}

TEST(BuiltinsTest, PutValuesInOrder) {
  Check({{"sorted([3, 1, 2])", "[1, 2, 3]"},
         {"sorted(['b', 'a'], reverse=True)", R"(["b", "a"])"},
         {"sorted([(1, 'b'), (0, 'c'), (1, 'a')], key=lambda x: x[0])", R"([(0, "c"), (1, "b"), (1, "a")])"},
         {"sorted([(1, 'b'), (0, 'c'), (1, 'a')], key=lambda x: x[0], reverse=True)",
          R"([(1, "b"), (1, "a"), (0, "c")])"},
         {"sorted([7, 3, 9, 1, 5, 8, 2, 6, 4, 0])", "[0, 1, 2, 3, 4, 5, 6, 7, 8, 9]"},
         {"sorted([])", "[]"},
         {"sorted([1, 'a'])", "values of the types int and string have no order"},
         {"max(1, 3, 2)", "3"},
         {"min([2, 1])", "1"},
         {"max(['a', 'bbb', 'cc'], key=len)", R"("bbb")"},
         {"min(['b', 'a', 'c'], key=lambda x: 0)", R"("b")"},
         {"max([])", "max() needs at least one item"},
         {"max(1, kee=2)", "max() has only the named argument `key`"}});
}

TEST(BuiltinsTest, CheckTheirArguments) {
  Check({{"len()", "len() takes one argument, and gets 0"},
         {"len(x=1)", "len() has no parameter `x`"},
         {"enumerate()", "enumerate() needs the argument `iterable`"},
         {"enumerate([], 1, 2)", "enumerate() takes at most 2 positional arguments, and gets 3"},
         {"enumerate([], iterable=[])", "enumerate() gets the argument `iterable` twice"},
         {"sorted([], foo=1)", "sorted() has no parameter `foo`"},
         {"[].append()", "append() takes one argument, and gets 0"},
         {"[].clear(1)", "clear() takes no arguments"},
         {"''.foo", "a value of the type string has no method `foo`"},
         {"5 .foo", "a value of the type int has no method `foo`"}});
}

TEST(BuiltinsTest, FailStopsTheProgram) {
  EXPECT_EQ(RunProgram("x = 1\nif x:\n    fail('nope', 1, [2])\nemit('a')\n").Mistake(), "3:5: fail: nope 1 [2]");
}

TEST(StringMethodsTest, FindAndTest) {
  Check({{"'abcabc'.find('c')", "2"},
         {"'\u00e9bc'.find('c')", "2"},
         {"'abcabc'.find('c', 3)", "5"},
         {"'abcabc'.find('c', 3, 5)", "-1"},
         {"'abcabc'.rfind('a')", "3"},
         {"'abc'.index('b')", "1"},
         {"'abc'.index('x')", "the string does not contain the other one"},
         {"'abab'.rindex('a')", "2"},
         {"'aaaa'.count('aa')", "2"},
         {"'\u00e9b'.count('')", "3"},
         {"'abc'.startswith('ab')", "True"},
         {"'abc'.startswith(('x', 'a'))", "True"},
         {"'abc'.startswith('b', 1)", "True"},
         {"'abc'.endswith('bc')", "True"},
         {"'abc'.endswith(1)", "endswith() needs a string, not a value of the type int"},
         {"'a1'.isalnum()", "True"},
         {"'a1'.isalpha()", "False"},
         {"'12'.isdigit()", "True"},
         {"''.isdigit()", "False"},
         {"'a b'.islower()", "True"},
         {"'A1'.isupper()", "True"},
         {"'1'.isupper()", "False"},
         {"' \\t'.isspace()", "True"}});
}

TEST(StringMethodsTest, Change) {
  Check({{"'aBc'.upper()", R"("ABC")"},
         {"'aBc'.lower()", R"("abc")"},
         {"'aBC d'.capitalize()", R"("Abc d")"},
         {"'aBC de-f'.title()", R"("Abc De-F")"},
         {"'aXbX'.replace('X', '--')", R"("a--b--")"},
         {"'aXbX'.replace('X', '', 1)", R"("abX")"},
         {"'a\u00e9'.replace('', '-')", "\"-a-\u00e9-\""},
         {"' a '.strip()", R"("a")"},
         {"'xax'.strip('x')", R"("a")"},
         {"'\u00e9a\u00e9'.lstrip('\u00e9')", "\"a\u00e9\""},
         {"'\u00e9a\u00e9'.rstrip('\u00e9')", "\"\u00e9a\""},
         {"'\u00e9'.strip('\u00e8')", "\"\u00e9\""},
         {"'git-status'.removeprefix('git-')", R"("status")"},
         {"'git-status'.removesuffix('git-')", R"("git-status")"},
         {"'a.py'.removesuffix('.py')", R"("a")"}});
}

TEST(StringMethodsTest, SplitAndJoin) {
  Check({{"' a  b '.split()", R"(["a", "b"])"},
         {"' a  b c '.split(None, 1)", R"(["a", "b c"])"},
         {"' a  b c '.rsplit(None, 1)", R"(["a  b", "c"])"},
         {"''.split()", "[]"},
         {"'a,b,,c'.split(',')", R"(["a", "b", "", "c"])"},
         {"''.split(',')", R"([""])"},
         {"'a,b,c'.split(',', 1)", R"(["a", "b,c"])"},
         {"'a,b,c'.rsplit(',', 1)", R"(["a,b", "c"])"},
         {"'a'.split('')", "the separator is empty"},
         {"'a=b=c'.partition('=')", R"(("a", "=", "b=c"))"},
         {"'a=b=c'.rpartition('=')", R"(("a=b", "=", "c"))"},
         {"'abc'.partition('=')", R"(("abc", "", ""))"},
         {"'abc'.rpartition('=')", R"(("", "", "abc"))"},
         {"'a\\nb\\r\\nc\\n'.splitlines()", R"(["a", "b", "c"])"},
         {"'a\\nb'.splitlines(True)", R"(["a\n", "b"])"},
         {"', '.join(['a', 'b'])", R"("a, b")"},
         {"''.join([])", R"("")"},
         {"','.join([1])", "join() needs a string, not a value of the type int"},
         {"'a\u00e9'.elems()", "[\"a\", \"\u00e9\"]"}});
}

TEST(ListMethodsTest, Change) {
  EXPECT_EQ(Changed("[1]", "x.append([2])"), "[1, [2]]");
  EXPECT_EQ(Changed("[1]", "x.extend((2, 3))"), "[1, 2, 3]");
  EXPECT_EQ(Changed("[1, 2]", "x.extend(x)"), "[1, 2, 1, 2]");
  EXPECT_EQ(Changed("[1, 2]", "x.insert(1, 9)"), "[1, 9, 2]");
  EXPECT_EQ(Changed("[1, 2]", "x.insert(-1, 9)"), "[1, 9, 2]");
  EXPECT_EQ(Changed("[1, 2]", "x.insert(99, 9)"), "[1, 2, 9]");
  EXPECT_EQ(Changed("[1, 2, 1]", "x.remove(1)"), "[2, 1]");
  EXPECT_EQ(Changed("[1]", "x.remove(5)"), "the list does not contain the value");
  EXPECT_EQ(Changed("[1, 2, 3]", "x.append(x.pop(0))"), "[2, 3, 1]");
  EXPECT_EQ(Changed("[1, 2, 3]", "x.pop()"), "[1, 2]");
  EXPECT_EQ(Changed("[]", "x.pop()"), "the index -1 is out of range; there are 0 elements");
  EXPECT_EQ(Changed("[1, 2]", "x.clear()"), "[]");
  EXPECT_EQ(Changed("[1, 2]", "x[0] = 5"), "[5, 2]");
  EXPECT_EQ(Changed("[1, 2]", "x[-1] += 5"), "[1, 7]");
  EXPECT_EQ(Changed("[1]", "y = x\ny += (2,)"), "[1, 2]");
  EXPECT_EQ(Changed("[1, 2, 1]", "x.append(x.index(1, 1))"), "[1, 2, 1, 2]");
}

TEST(DictMethodsTest, ReadAndChange) {
  Check({{"{'a': 1}.get('a')", "1"},
         {"{'a': 1}.get('b')", "None"},
         {"{'a': 1}.get('b', 5)", "5"},
         {"{'a': 1, 'b': 2}.items()", R"([("a", 1), ("b", 2)])"},
         {"{'a': 1, 'b': 2}.keys()", R"(["a", "b"])"},
         {"{'a': 1, 'b': 2}.values()", "[1, 2]"},
         {"{'a': 1, 'b': 2}.popitem()", R"(("a", 1))"},
         {"{}.popitem()", "the dict is empty"},
         {"{}.pop('a')", "the dict has no key \"a\""},
         {"{}.pop('a', 1)", "1"}});
  EXPECT_EQ(Changed("{'a': 1}", "x['b'] = 2"), R"({"a": 1, "b": 2})");
  EXPECT_EQ(Changed("{'a': 1}", "x['a'] += 2"), R"({"a": 3})");
  EXPECT_EQ(Changed("{'a': 1, 'b': 2}", "x['c'] = x.pop('a')"), R"({"b": 2, "c": 1})");
  EXPECT_EQ(Changed("{'a': 1}", "x.setdefault('b', []).append(1)\nx.setdefault('a', 5)"), R"({"a": 1, "b": [1]})");
  EXPECT_EQ(Changed("{'a': 1}", "x.update([('b', 2)], c=3)"), R"({"a": 1, "b": 2, "c": 3})");
  EXPECT_EQ(Changed("{'a': 1}", "y = x\ny |= {'b': 2}"), R"({"a": 1, "b": 2})");
  EXPECT_EQ(Changed("{'a': 1}", "x.clear()\nx['z'] = 0"), R"({"z": 0})");
}

TEST(DictMethodsTest, KeepManyKeysInOrder) {
  const ProgramRun run = RunProgram(
      "d = {}\n"
      "for i in range(1000): d[str(i * 7)] = i\n"
      "for i in range(0, 1000, 2): d.pop(str(i * 7))\n"
      "for i in range(1000, 1500): d[i] = i\n"
      "emit(str(len(d)))\n"
      "emit(str(d.values() == list(range(1, 1000, 2)) + list(range(1000, 1500))))\n"
      "emit(str([d.get(str(i * 7)) for i in range(4)]))\n");
  EXPECT_EQ(run.Mistake(), "");
  EXPECT_THAT(run.emitted, testing::ElementsAre("1000", "True", "[None, 1, None, 3]"));
}

}  // namespace
}  // namespace holdfast::starlark
