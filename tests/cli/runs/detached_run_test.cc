// Tests of the commands that deal with runs that go on by themselves.
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/command_fixture.h"
#include "support/eventually.h"

namespace holdfast::cli {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using ::testing::StartsWith;

using DetachedRunTest = ServedCommandFixture;

TEST_F(DetachedRunTest, PrintsAReadableNameAndGoesOn) {
  const std::string name = Output("holdfast run -d sleep 1000");
  EXPECT_THAT(name, MatchesRegex("[a-z]+-[a-z]+-[0-9]+\n"));
  EXPECT_EQ(Output("holdfast ps -q"), name);
  EXPECT_THAT(Output("holdfast run -d --json --name x sleep 1000"), "{\"name\":\"x\"}\n");
}

TEST_F(DetachedRunTest, IsListedWithStateAndCommand) {
  Output("holdfast run -d --name web sh -c 'sleep 1000'");
  EXPECT_THAT(Output("holdfast ps"),
              MatchesRegex("NAME  STATE    AGE  SANDBOX  DIRECTORY +COMMAND\nweb   running  [0-9]+s   none     " +
                           scratch_.path() + "  sh -c 'sleep 1000'\n"));
  EXPECT_THAT(Output("holdfast ps --json"),
              AllOf(StartsWith("{\"sessions\":[{"), HasSubstr("\"sessionName\":\"web\"")));
  EXPECT_THAT(Output("holdfast inspect web"),
              AllOf(HasSubstr("name:         web\n"), HasSubstr("state:        running\n")));
  EXPECT_THAT(Output("holdfast inspect --json web"), HasSubstr("\"argv\":[\"sh\",\"-c\",\"sleep 1000\"]"));
  EXPECT_THAT(Refusal("holdfast inspect other", 1), HasSubstr("there is no run named other"));
}

TEST_F(DetachedRunTest, KeepsItsOutputAndItsExitStatus) {
  Output("holdfast run -d --name work sh -c 'echo one; echo two >&2; exit 5' > /dev/null");
  EXPECT_EQ(Run("holdfast wait work").status, 5);
  const support::Outcome logs = Run("holdfast logs work");
  EXPECT_EQ(logs.out, "one\n");
  EXPECT_EQ(logs.err, "two\n");
  EXPECT_THAT(Run("holdfast logs --json work").out,
              HasSubstr("{\"seq\":1,\"stream\":\"stdout\",\"text\":\"one\\n\"}\n"));
  EXPECT_THAT(Output("holdfast ps"), HasSubstr("exited with 5"));
  EXPECT_EQ(Output("holdfast kill --end work; holdfast ps -q"), "");
}

TEST_F(DetachedRunTest, CanBeFollowedFromANumberOn) {
  Output("holdfast run -d --name count sh -c 'for i in 1 2 3; do echo $i; sleep 0.2; done' > /dev/null");
  EXPECT_EQ(Output("holdfast logs -f count"), "1\n2\n3\n");
  EXPECT_EQ(Output("holdfast logs --since-seq 2 count"), "2\n3\n");
  EXPECT_EQ(Output("holdfast logs -f --since-seq 3 count"), "3\n");
  EXPECT_EQ(Run("holdfast logs --since-seq x count").status, 2);
}

TEST_F(DetachedRunTest, TwoWatchersSeeEverythingAndTheRunDoesNotNotice) {
  Output("holdfast run -di --name talk sh -c 'read x; seq 100000; read x' > /dev/null");
  support::Program stuck(Bash("holdfast logs -f talk | (read x < /dev/null; sleep 1000)"));
  support::Program watcher(Bash("exec holdfast logs -f talk"));
  Output("holdfast send talk go");
  watcher.AwaitOutput("\n100000\n");
  Output("holdfast send talk end");
  const support::Outcome seen = watcher.Finish();
  EXPECT_EQ(std::count(seen.out.begin(), seen.out.end(), '\n'), 100000);
  EXPECT_EQ(Run("holdfast wait talk").status, 0);
}

TEST_F(DetachedRunTest, ReadsWhatIsSent) {
  Output("holdfast run -di --name echo cat > /dev/null; holdfast send echo two words; holdfast send -n echo rest");
  Output("printf 'from a pipe' | holdfast send --eof echo");
  EXPECT_EQ(Run("holdfast wait echo").status, 0);
  EXPECT_EQ(Output("holdfast logs echo"), "two words\nrestfrom a pipe");
  EXPECT_THAT(Refusal("holdfast send nobody x", 1), HasSubstr("there is no run named nobody"));
}

TEST_F(DetachedRunTest, GetsSignals) {
  Output("holdfast run -d --name web sh -c 'trap \"exit 9\" HUP; while :; do sleep 0.01; done' > /dev/null");
  EXPECT_TRUE(support::Eventually(
      [&] { return Run("holdfast kill -s HUP web; holdfast wait --timeout 100ms web").status == 9; }));
  EXPECT_THAT(Refusal("holdfast kill -s NONSENSE web", 2), HasSubstr("unknown signal NONSENSE"));
}

TEST_F(DetachedRunTest, WaitingHasATimeLimit) {
  Output("holdfast run -d --name web sleep 1000 > /dev/null");
  EXPECT_THAT(Refusal("holdfast wait --timeout 100ms web", 124), HasSubstr("web has not ended in time"));
}

TEST_F(DetachedRunTest, ShowsItsOutputAndItsExitStatusToACommandThatAttaches) {
  Output("holdfast run -di --name talk sh -c 'echo hello; read x; echo got $x; exit 4' > /dev/null");
  const support::Outcome attached = Run("echo it | holdfast attach talk");
  EXPECT_EQ(attached.out, "hello\ngot it\n");
  EXPECT_EQ(attached.status, 4);
  EXPECT_EQ(Output("holdfast ps -q"), "");
}

TEST_F(DetachedRunTest, AForegroundRunGoesOnAfterAnotherClientHasSteeredIt) {
  support::Program run(Bash(
      "(echo first; while [ ! -e go ]; do sleep 0.01; done; echo second) | "
      "holdfast run --name talk sh -c 'trap \"echo hup\" HUP; read x; echo $x; while ! read y; do :; done; echo $y'"));
  run.AwaitOutput("first\n");
  Output("holdfast kill -s HUP talk");
  run.AwaitOutput("hup\n");
  Output("touch go");
  EXPECT_EQ(run.Finish().out, "first\nhup\nsecond\n");
}

TEST_F(DetachedRunTest, AnyMethodCanBeCalledInItsSession) {
  Output("holdfast run -d --name web sleep 1000 > /dev/null");
  EXPECT_THAT(Output("holdfast call --name web process/list"), HasSubstr("\"processId\":\"main\""));
  EXPECT_EQ(Output("holdfast call environment/status '{}'"), "{\"status\":\"ready\"}\n");
  EXPECT_EQ(Output("echo '{}' | holdfast call environment/status -"), "{\"status\":\"ready\"}\n");
  EXPECT_THAT(Refusal("holdfast call no/such/method", 1), HasSubstr("no/such/method"));
  EXPECT_THAT(Refusal("holdfast call fs/readFile '{\"path\":1}'", 1), StartsWith("holdfast call: "));
}

TEST_F(DetachedRunTest, ACallWithANameThatDoesNotExistCreatesNothing) {
  EXPECT_THAT(Refusal("holdfast call --name wbe process/list", 1), HasSubstr("there is no run named wbe"));
  EXPECT_EQ(Output("holdfast ps -q"), "");
}

}  // namespace
}  // namespace holdfast::cli
