// Tests of what `holdfast ps` and `holdfast inspect` say about the commands of runs.
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/command_fixture.h"
#include "support/message.h"

namespace holdfast::cli {
namespace {

using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;

using ListedRunTest = ServedCommandFixture;

TEST_F(ListedRunTest, HasItsDirectory) {
  Output("mkdir 'my dir'; holdfast run -d --name web -C 'my dir' sleep 1000");
  EXPECT_THAT(Output("holdfast ps"), HasSubstr("  " + Path("my dir") + "  sleep 1000\n"));
  EXPECT_THAT(Output("holdfast inspect web"), HasSubstr("directory:    " + Path("my dir") + "\n"));
  EXPECT_THAT(Output("holdfast inspect --json web"), HasSubstr("/my%20dir\""));
}

TEST_F(ListedRunTest, HasItsSandbox) {
  Output(
      "holdfast run -d --name free sleep 1000; holdfast run -d --name tight --sandbox read-only sleep 1000; "
      "holdfast run -d --name work --sandbox workspace-write sleep 1000");
  EXPECT_THAT(Output("holdfast ps"), AllOf(ContainsRegex("free +running +[0-9]+s +none "),
                                           ContainsRegex("tight +running +[0-9]+s +read-only "),
                                           ContainsRegex("work +running +[0-9]+s +workspace-write ")));
  EXPECT_THAT(Output("holdfast inspect free"), AllOf(HasSubstr("sandbox:      none\n"), Not(HasSubstr("may write"))));
  EXPECT_THAT(Output("holdfast inspect tight"),
              AllOf(HasSubstr("sandbox:      read-only, no network\n"), Not(HasSubstr("may write"))));
  EXPECT_THAT(Output("holdfast inspect work"),
              AllOf(HasSubstr("sandbox:      workspace-write, no network\n"),
                    HasSubstr("may write:    " + scratch_.path() + ", /tmp, $TMPDIR\n")));
}

TEST_F(ListedRunTest, HasItsNetworkAndWhatIsDenied) {
  scratch_.Write("box.json", R"({"permissions":{"type":"managed","file_system":{"type":"restricted","entries":[)"
                             R"({"path":{"type":"special","value":{"kind":"root"}},"access":"read"},)"
                             R"({"path":{"type":"path","path":"/var/tmp"},"access":"write"},)"
                             R"({"path":{"type":"glob_pattern","pattern":"**/.env"},"access":"deny"}]},)"
                             R"("network":"enabled"},"windowsSandboxLevel":"disabled"})");
  Output("holdfast run -d --name web --sandbox box.json sleep 1000");
  EXPECT_THAT(Output("holdfast ps"), ContainsRegex("web +running +[0-9]+s +restricted\\+network "));
  EXPECT_THAT(Output("holdfast inspect web"),
              AllOf(HasSubstr("sandbox:      restricted, with a network\n"), HasSubstr("may write:    /var/tmp\n"),
                    HasSubstr("denied:       **/.env\n")));
}

TEST_F(ListedRunTest, HasItsRules) {
  scratch_.Write("my.rules", "prefix_rule(pattern=[\"/no/program\"], decision=\"forbidden\")\n");
  Output("holdfast run -d --name web --rules my.rules -- sleep 1000");
  EXPECT_THAT(Output("holdfast ps"), ContainsRegex("web +running +[0-9]+s +none\\+rules "));
  EXPECT_THAT(Output("holdfast inspect web"), HasSubstr("rules:        " + Path("my.rules") + "\n"));
}

TEST_F(ListedRunTest, SaysHowAndWhenItHasEnded) {
  Output(
      "holdfast run -d --name three sh -c 'exit 3'; holdfast run -d --name killed sh -c 'kill -TERM $$'; "
      "holdfast run -d --name boxed --sandbox read-only sh -c 'kill -USR1 $$'; "
      "holdfast run -d --name odd sh -c 'exit 143'; holdfast wait three killed boxed odd || true");
  EXPECT_THAT(Output("holdfast ps"), AllOf(ContainsRegex("three +exited with 3 [0-9]+s ago  "),
                                           ContainsRegex("killed +ended by SIGTERM [0-9]+s ago  "),
                                           ContainsRegex("boxed +ended by SIGUSR1 [0-9]+s ago  "),
                                           ContainsRegex("odd +exited with 143 [0-9]+s ago  ")));
  EXPECT_THAT(Output("holdfast inspect killed"), AllOf(HasSubstr("state:        ended by SIGTERM\n"),
                                                       ContainsRegex("ended: +[0-9]{4}-[0-9]{2}-[0-9]{2} ")));
  EXPECT_THAT(Output("holdfast inspect --json killed"), HasSubstr("\"signal\":\"SIGTERM\""));
  EXPECT_THAT(Output("holdfast inspect --json odd"), Not(HasSubstr("\"signal\"")));
}

}  // namespace
}  // namespace holdfast::cli
