#include "escalate/outside/outside_environment.h"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace holdfast::escalate {
namespace {

using process::Environment;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

using Words = std::vector<std::string>;

const Environment kStart = {{"HOME", "/home/u"}, {"LANG", "C"}, {"PATH", "/usr/bin"}};

Environment Carried(const Words& caller, const Words& listed = {}) { return CarriedVariables(kStart, caller, listed); }

TEST(CarriedVariablesTest, LeaveOutWhatMakesAProgramExecuteAnotherOne) {
  EXPECT_THAT(Carried({"PATH=/tmp", "LD_PRELOAD=/tmp/x.so", "GIT_SSH_COMMAND=touch /tmp/x", "BASH_ENV=/tmp/x",
                       "PYTHONPATH=/tmp", "NODE_OPTIONS=-r /tmp/x", "LOCPATH=/tmp", "TZDIR=/tmp", "TERMINFO=/tmp"}),
              IsEmpty());
}

TEST(CarriedVariablesTest, HaveTheTerminalAndTheLanguage) {
  EXPECT_THAT(Carried({"TERM=xterm-256color", "LC_ALL=de_DE.UTF-8@euro", "LANG=en", "TZ=Europe/Berlin"}),
              ElementsAre(Pair("LANG", "en"), Pair("LC_ALL", "de_DE.UTF-8@euro"), Pair("TERM", "xterm-256color"),
                          Pair("TZ", "Europe/Berlin")));
}

// The C library reads locales, translations and time zones by such values.
TEST(CarriedVariablesTest, LeadToNoFileOfTheCommand) {
  for (const std::string value :
       {"/work/x", "../../work/x", "a/../../work/x", "a/./x", ":/work/x", "a//x", "$x", "a b", "a\nb", "\xff"}) {
    for (const std::string name : {"LANG", "LANGUAGE", "LC_ALL", "TERM", "TZ"}) {
      EXPECT_THAT(Carried({name + "=" + value}), IsEmpty()) << name << " " << value;
    }
  }
  EXPECT_THAT(Carried({"LANGUAGE=" + std::string(256, 'a')}), IsEmpty());
  EXPECT_THAT(Carried({"LC_x=a", "LC_`=a"}), IsEmpty());
}

TEST(CarriedVariablesTest, HaveWhatTheRulesListWhateverItsValueIs) {
  EXPECT_THAT(Carried({"A=/work x", "B=1"}, {"A", "C"}), ElementsAre(Pair("A", "/work x")));
}

TEST(CarriedVariablesTest, LeaveOutWhatIsAsAtTheStart) {
  EXPECT_THAT(Carried({"HOME=/home/u", "LANG=C"}, {"HOME"}), IsEmpty());
  EXPECT_THAT(Carried({"HOME=", "LANG="}, {"HOME"}), ElementsAre(Pair("HOME", ""), Pair("LANG", "")));
}

TEST(CarriedVariablesTest, HaveTheFirstOfSeveralValuesAsGetenvDoes) {
  EXPECT_THAT(Carried({"A=1", "A=2", "=x", "malformed"}, {"A", "malformed"}), ElementsAre(Pair("A", "1")));
  EXPECT_THAT(Carried({"HOME=/home/u", "HOME=/tmp"}, {"HOME"}), IsEmpty());
}

TEST(OutsideEnvironmentTest, IsThatOfTheStartWithTheCarriedVariablesAndTheDirectory) {
  EXPECT_THAT(OutsideEnvironment(kStart, {{"LANG", "en"}, {"TERM", "dumb"}}, "/work"),
              ElementsAre("HOME=/home/u", "LANG=en", "PATH=/usr/bin", "TERM=dumb", "PWD=/work"));
  EXPECT_THAT(OutsideEnvironment({{"PWD", "/old"}}, {}, "/work"), ElementsAre("PWD=/work"));
}

}  // namespace
}  // namespace holdfast::escalate
