// Statements, functions and scopes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "program.h"

namespace holdfast::starlark {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// Returns what a program emits, or its mistake.
std::vector<std::string> Emitted(const std::string& text) {
  const ProgramRun run = RunProgram(text);
  return run.diagnostic ? std::vector{run.Mistake()} : run.emitted;
}

TEST(StatementsTest, RunNothing) {
  for (const char* const text : {"", "\n", "# nothing", "# nothing\n\n  \n  # more\r\n", ";"}) {
    if (std::string(text) == ";") {
      EXPECT_THAT(Emitted(text), ElementsAre("1:1: expected an expression, found `;`"));
    } else {
      EXPECT_THAT(Emitted(text), IsEmpty()) << text;
    }
  }
}

TEST(StatementsTest, RunLinesInTheirOrder) {
  EXPECT_THAT(Emitted("emit('a'); emit('b');\r\nemit(\r\n  'c', # why\r\n)\r\nemit('d')"),
              ElementsAre("a", "b", "c", "d"));
  EXPECT_THAT(Emitted("emit('a' + \\\n  'b')\n"), ElementsAre("ab"));
}

TEST(StatementsTest, TellHostFunctionsTheirPlace) {
  const ProgramRun run = RunProgram("emit('a')\n\ndef f():\n    x = '\u00e9'; emit('b')\nf()\n");
  EXPECT_THAT(run.positions, ElementsAre(Position{1, 1}, Position{4, 14}));
}

TEST(StatementsTest, PassArgumentsToHostFunctions) {
  EXPECT_THAT(Emitted("two(second=1, first=[2])\ntwo(*[1, 2])\ntwo(**{'second': 1, 'first': 0})\n"),
              ElementsAre("[2],1", "1,2", "0,1"));
  EXPECT_THAT(Emitted("x = 1\ny = two(1)\n"), ElementsAre("2:5: no second argument"));
  EXPECT_THAT(Emitted("two()\n"), ElementsAre("1:1: two() needs the argument `first`"));
  EXPECT_THAT(Emitted("two(1, 2, 3)\n"), ElementsAre("1:1: two() takes at most 2 positional arguments, and gets 3"));
  EXPECT_THAT(Emitted("two(1, third=2)\n"), ElementsAre("1:1: two() has no parameter `third`"));
  EXPECT_THAT(Emitted("two(1, first=2)\n"), ElementsAre("1:1: two() gets the argument `first` twice"));
}

TEST(StatementsTest, Assign) {
  EXPECT_THAT(Emitted("x = 1\nx = 2\nemit(str(x))\n"), ElementsAre("2"));
  EXPECT_THAT(Emitted("a, b = 1, 2\n[c, (d, e)] = [3, (4, 5)]\n(f), = [6]\nemit(str((a, b, c, d, e, f)))\n"),
              ElementsAre("(1, 2, 3, 4, 5, 6)"));
  EXPECT_THAT(Emitted("a = 1\nb = 2\na, b = b, a\nemit(str((a, b)))\n"), ElementsAre("(2, 1)"));
  EXPECT_THAT(Emitted("x: list[str] = ['a']\nemit(x[0])\n"), ElementsAre("a"));
  EXPECT_THAT(Emitted("x = 7\nx += 1; x -= 2; x *= 10; x //= 7; x %= 5; x <<= 3; x >>= 1; x |= 3; x &= 14; x ^= 1\n"
                      "emit(str(x))\n"),
              ElementsAre("15"));
}

TEST(StatementsTest, RefuseWhatCannotBeAssigned) {
  EXPECT_THAT(Emitted("a, b = 1\n"), ElementsAre("1:1: a value of the type int has no items to go through"));
  EXPECT_THAT(Emitted("x = 1\na, b = [1, 2, 3]\n"), ElementsAre("2:1: 3 values for 2 variables"));
  EXPECT_THAT(Emitted("1 = 2\n"), ElementsAre("1:1: only a name, an element, or a list of these can be assigned to"));
  EXPECT_THAT(Emitted("x = []\nx.y = 2\n"),
              ElementsAre("2:3: only a name, an element, or a list of these can be assigned to"));
  EXPECT_THAT(Emitted("x = [1]\nx[0:1] = [2]\n"),
              ElementsAre("2:2: only a name, an element, or a list of these can be assigned to"));
  EXPECT_THAT(Emitted("(a, b) += 1\n"), ElementsAre("1:2: only a name or an element can be changed by an operator"));
  EXPECT_THAT(Emitted("x = (1,)\nx[0] = 2\n"), ElementsAre("2:2: the elements of a tuple cannot be assigned to"));
  EXPECT_THAT(Emitted("a = b = 1\n"), ElementsAre("1:7: expected the end of the line, found `=`"));
  EXPECT_THAT(Emitted("x: int\n"), ElementsAre("1:7: expected `=` and a value, found the end of the line"));
}

TEST(StatementsTest, Branch) {
  const std::string text = "if x == 1:\n    emit('one')\nelif x == 2: emit('two')\nelse:\n  if x: emit('many')\n";
  EXPECT_THAT(Emitted("x = 1\n" + text), ElementsAre("one"));
  EXPECT_THAT(Emitted("x = 2\n" + text), ElementsAre("two"));
  EXPECT_THAT(Emitted("x = 3\n" + text), ElementsAre("many"));
  EXPECT_THAT(Emitted("x = 0\n" + text), IsEmpty());
}

TEST(StatementsTest, Loop) {
  EXPECT_THAT(Emitted("for x in ['a', 'b']:\n    emit(x)\nemit(x)\n"), ElementsAre("a", "b", "b"));
  EXPECT_THAT(Emitted("for a, b in {'x': 'y'}.items(): emit(a + b)\n"), ElementsAre("xy"));
  EXPECT_THAT(Emitted("for i in range(9):\n  if i == 1:\n    continue\n  if i == 3: break\n  emit(str(i))\n"),
              ElementsAre("0", "2"));
  EXPECT_THAT(Emitted("for i in 1, 2:\n  for j in [3]:\n    break\n  emit(str(i))\n"), ElementsAre("1", "2"));
  EXPECT_THAT(Emitted("for i in 5: pass\n"), ElementsAre("1:10: a value of the type int has no items to go through"));
  EXPECT_THAT(Emitted("break\n"), ElementsAre("1:1: `break` stands in no loop"));
  EXPECT_THAT(Emitted("for x in []:\n  def f():\n    continue\n"), ElementsAre("3:5: `continue` stands in no loop"));
}

TEST(StatementsTest, RefuseChangesOfWhatALoopRunsOver) {
  const std::string list = "the list cannot be changed while a loop runs over it";
  for (const char* const change : {"x.append(1)", "x.clear()", "x.extend([])", "x.insert(0, 1)", "x.pop()", "x[0] = 1",
                                   "x.remove(1)", "x += [1]"}) {
    const ProgramRun run = RunProgram("x = [1]\nfor y in x:\n  " + std::string(change) + "\n");
    ASSERT_TRUE(run.diagnostic) << change;
    EXPECT_EQ(run.diagnostic->message, list) << change;
    EXPECT_EQ(run.diagnostic->position.line, 3) << change;
  }
  EXPECT_THAT(Emitted("x = {'a': 1}\nfor y in x:\n  x['b'] = 1\n"),
              ElementsAre("3:4: the dict cannot be changed while a loop runs over it"));
  EXPECT_THAT(Emitted("x = [1]\n[x.append(1) for y in x]\n"), ElementsAre("2:4: " + list));
  EXPECT_THAT(Emitted("x = [1]\nfor y in x:\n  break\nx.append(2)\nemit(str(x))\n"), ElementsAre("[1, 2]"));
}

TEST(FunctionsTest, TakeArguments) {
  const std::string f = "def f(a, b=2, *c, d, e=5, **g):\n    return (a, b, c, d, e, g)\n";
  EXPECT_THAT(Emitted(f + "emit(str(f(1, d=4)))\n"), ElementsAre("(1, 2, (), 4, 5, {})"));
  EXPECT_THAT(Emitted(f + "emit(str(f(1, 3, 6, 7, z=0, d=4, e=8)))\n"),
              ElementsAre("(1, 3, (6, 7), 4, 8, {\"z\": 0})"));
  EXPECT_THAT(Emitted(f + "emit(str(f(*[1, 2], d=3, **{'e': 4})))\n"), ElementsAre("(1, 2, (), 3, 4, {})"));
  EXPECT_THAT(Emitted("def f(a, *, b): return a + b\nemit(str(f(1, b=2)))\n"), ElementsAre("3"));
  EXPECT_THAT(Emitted("def f(a, b):\n  pass\nx = f(1)\n"), ElementsAre("3:5: f() needs the argument `b`"));
  EXPECT_THAT(Emitted("def f(a):\n  pass\nf(1, 2)\n"), ElementsAre("3:1: f() gets 1 positional arguments too many"));
  EXPECT_THAT(Emitted("def f(a):\n  pass\nf(1, a=2)\n"), ElementsAre("3:1: f() gets the argument `a` twice"));
  EXPECT_THAT(Emitted("def f(a):\n  pass\nf(b=2)\n"), ElementsAre("3:1: f() has no parameter `b`"));
  EXPECT_THAT(Emitted("5(1)\n"), ElementsAre("1:1: a value of the type int cannot be called"));
  EXPECT_THAT(Emitted("len(*5)\n"), ElementsAre("1:1: a value of the type int has no items to go through"));
  EXPECT_THAT(Emitted("len(**[])\n"), ElementsAre("1:1: `**` needs a dict, not a value of the type list"));
}

TEST(FunctionsTest, RefuseBadParameters) {
  EXPECT_THAT(Emitted("def f(a, a): pass\n"), ElementsAre("1:10: a second parameter `a`"));
  EXPECT_THAT(Emitted("def f(a=1, b): pass\n"),
              ElementsAre("1:12: a parameter without a default follows one with a default"));
  EXPECT_THAT(Emitted("def f(**a, b): pass\n"), ElementsAre("1:12: no parameter can follow the one with `**`"));
  EXPECT_THAT(Emitted("def f(*a, *b): pass\n"), ElementsAre("1:11: a second `*` parameter"));
  EXPECT_THAT(Emitted("return 1\n"), ElementsAre("1:1: `return` stands in no function"));
}

TEST(FunctionsTest, Return) {
  EXPECT_THAT(Emitted("def f():\n  for x in [1, 2]:\n    if x: return x, 5\nemit(str(f()))\n"), ElementsAre("(1, 5)"));
  EXPECT_THAT(Emitted("def f():\n  return\nemit(str(f()))\ndef g(): pass\nemit(str(g()))\n"),
              ElementsAre("None", "None"));
}

TEST(FunctionsTest, AcceptTypes) {
  EXPECT_THAT(
      Emitted("def f(x: str, y: list[str] | None = None, *z: int) -> dict[str, typing.Any]:\n  emit(x)\nf('b')\n"),
      ElementsAre("b"));
}

TEST(FunctionsTest, EvaluateDefaultsOnceAndOutside) {
  EXPECT_THAT(Emitted("x = 'a'\ndef f(y=x):\n  x = 'b'\n  emit(y + x)\nx = 'c'\nf()\n"), ElementsAre("ab"));
  EXPECT_THAT(Emitted("def f(x=[]):\n  x.append(1)\n  return len(x)\nf()\nemit(str(f()))\n"), ElementsAre("2"));
}

TEST(FunctionsTest, SeeVariablesAround) {
  EXPECT_THAT(Emitted("def f():\n  emit(x)\nx = 'later'\nf()\n"), ElementsAre("later"));
  EXPECT_THAT(Emitted("def f():\n  x = 'a'\n  def g():\n    def h(): return x + y\n    y = 'b'\n    return h\n"
                      "  k = g()\n  x = 'c'\n  return k()\nemit(f())\n"),
              ElementsAre("cb"));
  EXPECT_THAT(Emitted("def adder(n): return lambda x: x + n\na = adder(1)\nb = adder(10)\nemit(str(a(b(0))))\n"),
              ElementsAre("11"));
  EXPECT_THAT(Emitted("items = []\ndef add(x): items.append(x)\nadd(1)\nadd(2)\nemit(str(items))\n"),
              ElementsAre("[1, 2]"));
  EXPECT_THAT(Emitted("x = 'g'\ndef f():\n  y = [x for x in ['l']]\n  return x + y[0]\nemit(f())\n"),
              ElementsAre("gl"));
  EXPECT_THAT(Emitted("x = 1\nx = [x for x in [x, x]]\nemit(str(x))\n"), ElementsAre("[1, 1]"));
  EXPECT_THAT(Emitted("len = 5\nemit(str(len))\n"), ElementsAre("5"));
  EXPECT_THAT(Emitted("fs = [lambda: x for x in [1, 2]]\nemit(str([f() for f in fs]))\n"), ElementsAre("[2, 2]"));
}

TEST(FunctionsTest, RefuseVariablesWithoutAValue) {
  EXPECT_THAT(Emitted("emit(x)\nx = 'a'\n"), ElementsAre("1:6: the variable `x` has no value here"));
  EXPECT_THAT(Emitted("x = 'g'\ndef f():\n  emit(x)\n  x = 'l'\nf()\n"),
              ElementsAre("3:8: the variable `x` has no value here"));
  EXPECT_THAT(Emitted("emit('a')\nif False:\n  foo(bar)\n"), ElementsAre("3:3: the name `foo` is not defined"));
  EXPECT_THAT(Emitted("def f():\n  return [y for x in []]\n"), ElementsAre("2:11: the name `y` is not defined"));
}

TEST(FunctionsTest, CallThemselves) {
  EXPECT_THAT(Emitted("def f(n):\n  return 1 if n == 0 else n * f(n - 1)\nemit(str(f(20)))\n"),
              ElementsAre("2432902008176640000"));
}

TEST(FunctionsTest, AreValues) {
  EXPECT_THAT(Emitted("x = []\nadd = x.append\nadd(1)\nemit(str(x))\nemit(repr(add))\nemit(repr(lambda: 1))\n"),
              ElementsAre("[1]", "<function append>", "<function lambda>"));
  EXPECT_THAT(Emitted("f = emit\nf('a')\nemit(type(f))\nd = {f: 1}\nemit(str(d[emit]))\n"),
              ElementsAre("a", "function", "1"));
}

}  // namespace
}  // namespace holdfast::starlark
