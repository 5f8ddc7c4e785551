// Tests of the commands for runs that have ended, and of output that the server no longer keeps.
#include <sstream>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/command_fixture.h"
#include "support/message.h"

namespace holdfast::cli {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::MatchesRegex;
using ::testing::StartsWith;

using FinishedRunTest = ServedCommandFixture;

std::vector<std::string> LinesOf(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

// Writes 2688895 bytes, of which the server keeps the last megabyte.
constexpr const char* kStartLong =
    "holdfast run -d --name long sh -c 'seq 400000; echo done >&2' > /dev/null; holdfast wait long; ";
constexpr size_t kLongBytes = 2688895;

TEST_F(FinishedRunTest, LogsSayThatTheBeginningIsGone) {
  Output(kStartLong);
  for (const std::string command : {"holdfast logs long", "holdfast logs -f long"}) {
    const support::Outcome logs = Run(command);
    EXPECT_EQ(logs.status, 0);
    EXPECT_THAT(logs.out, EndsWith("399999\n400000\n"));
    EXPECT_THAT(logs.err, MatchesRegex("holdfast logs: the beginning of the output is gone \\(1\\.[0-9]+ MiB\\): "
                                       "[^\n]+\ndone\n"))
        << command;
    EXPECT_LT(logs.out.size(), kLongBytes);
  }
  EXPECT_THAT(Run("holdfast logs --since-seq 2 long").err,
              StartsWith("holdfast logs: output behind number 1 is gone (up to number "));
}

TEST_F(FinishedRunTest, JsonLogsSayHowMuchOfTheBeginningIsGone) {
  Output(kStartLong);
  const std::vector<std::string> lines = LinesOf(Output("holdfast logs --json long"));
  ASSERT_GE(lines.size(), 2u);
  const support::Message lost(lines[0]);
  size_t bytes = 0;
  for (size_t i = 1; i < lines.size(); ++i) bytes += support::Message(lines[i]).Text("text").size();
  EXPECT_EQ(static_cast<size_t>(lost.Number("lost.bytes")) + bytes, kLongBytes + 5);
  EXPECT_EQ(support::Message(lines[1]).Number("seq"), lost.Number("lost.toSeq") + 1);
}

TEST_F(FinishedRunTest, LogsOfAShortRunSayNothingOfTheKind) {
  Output("holdfast run -d --name short seq 3 > /dev/null; holdfast wait short");
  EXPECT_EQ(Output("holdfast logs short"), "1\n2\n3\n");
  EXPECT_EQ(Output("holdfast logs -f short"), "1\n2\n3\n");
  EXPECT_THAT(LinesOf(Output("holdfast logs --json short")), testing::Each(testing::Not(HasSubstr("lost"))));
}

TEST_F(FinishedRunTest, JsonLogsHaveTextWhereItIsOneAndBytesOtherwise) {
  Output(R"(holdfast run -d --name both sh -c 'printf "\303\244\342\200\256"; printf "\377\n" >&2' > /dev/null)");
  Output("holdfast wait both");
  EXPECT_THAT(LinesOf(Output("holdfast logs --json both")),
              testing::UnorderedElementsAre(
                  MatchesRegex("\\{\"seq\":[0-9],\"stream\":\"stdout\",\"text\":\"\u00e4\\\\u202e\"\\}"),
                  MatchesRegex("\\{\"seq\":[0-9],\"stream\":\"stderr\",\"base64\":\"/wo=\"\\}")));
}

TEST_F(FinishedRunTest, AttachShowsItsOutputAndKeepsIt) {
  Output("holdfast run -d --name done sh -c 'echo out; exit 4' > /dev/null; holdfast wait done || true");
  for (int i = 0; i < 2; ++i) {
    const support::Outcome attached = Run("holdfast attach done < /dev/null");
    EXPECT_EQ(attached.out, "out\n");
    EXPECT_EQ(attached.status, 4);
  }
  EXPECT_EQ(Output("holdfast ps -q"), "done\n");
}

TEST_F(FinishedRunTest, PruneRemovesAllButThoseThatGoOn) {
  Output("holdfast run -d --name a true; holdfast run -d --name b true; holdfast run -d --name web sleep 1000");
  Output("holdfast wait a b");
  EXPECT_THAT(LinesOf(Output("holdfast prune")), testing::UnorderedElementsAre("a", "b"));
  EXPECT_EQ(Output("holdfast ps -q"), "web\n");
  EXPECT_THAT(Output("holdfast prune"), IsEmpty());
  Output("holdfast kill web; holdfast wait web || true");
  EXPECT_EQ(Output("holdfast prune --json"), "{\"removed\":[\"web\"]}\n");
}

TEST_F(FinishedRunTest, PruneLeavesARunWhoseBackgroundStillWrites) {
  Output("holdfast run -d --name back sh -c 'sleep 1000 & exit 0' > /dev/null; holdfast wait back");
  EXPECT_THAT(Output("holdfast prune"), IsEmpty());
  EXPECT_EQ(Output("holdfast ps -q"), "back\n");
}

TEST_F(FinishedRunTest, PruneLeavesARunThatAnotherCommandReads) {
  Output(kStartLong);
  EXPECT_EQ(Output("mkfifo p; holdfast logs long > p 2> /dev/null & exec 3< p; head -c 1 <&3 > /dev/null; "
                   "holdfast prune; echo kept; exec 3<&-; wait; holdfast prune"),
            "kept\nlong\n");
}

}  // namespace
}  // namespace holdfast::cli
