#include "client/exec_events.h"

#include <chrono>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace holdfast::client {
namespace {

using std::chrono::milliseconds;
using testing::ElementsAre;

constexpr ExecEvents::Clock::time_point kBegan{};

struct Describe {
  std::string operator()(const ExecCommandBegin& begin) const {
    return fmt::format("begin {} {}", begin.process_id, begin.command.at(0));
  }
  std::string operator()(const ExecCommandOutputDelta& delta) const {
    return fmt::format("delta {} {}", static_cast<int>(delta.stream), delta.chunk);
  }
  std::string operator()(const TerminalInteraction& interaction) const { return "input " + interaction.input; }
  std::string operator()(const ExecCommandEnd& end) const {
    return fmt::format("end {} out={} err={} all={} {} ms", end.exit_code.value_or(-1), end.out, end.err,
                       end.aggregated, end.duration.count());
  }
};

class ExecEventsTest : public testing::Test {
 protected:
  ExecEvents Make(size_t transcript_bytes = 1 << 20) {
    return {{.process_id = "p", .command = {"make"}},
            [this](ExecEvent event) {
              told_.push_back(std::visit(Describe(), event));
              if (auto* end = std::get_if<ExecCommandEnd>(&event)) end_ = *end;
            },
            kBegan,
            transcript_bytes};
  }

  std::vector<std::string> told_;
  ExecCommandEnd end_;
};

TEST_F(ExecEventsTest, TellsACommandFromItsBeginToItsEnd) {
  ExecEvents events = Make();
  events.OnEvent(Output{.seq = 1, .stream = wire::Stream::kStdout, .bytes = "a"}, kBegan);
  events.OnInput("y\n");
  events.OnEvent(Output{.seq = 2, .stream = wire::Stream::kStderr, .bytes = "b"}, kBegan);
  events.OnEvent(Exited{.seq = 3, .exit_code = 2}, kBegan + milliseconds(5));
  events.OnEvent(Output{.seq = 4, .stream = wire::Stream::kStdout, .bytes = "c"}, kBegan + milliseconds(6));
  events.OnEvent(Closed{.seq = 5}, kBegan + milliseconds(7));
  EXPECT_THAT(told_, ElementsAre("begin p make", "delta 0 a", "input y\n", "delta 1 b", "delta 0 c",
                                 "end 2 out=ac err=b all=abc 7 ms"));
}

TEST_F(ExecEventsTest, EndsOnceAndWithoutAnExitCodeWhenTheSessionIsLost) {
  ExecEvents events = Make();
  events.OnEvent(Failed{{ErrorKind::kDisconnected, "the session is lost"}}, kBegan);
  events.OnEvent(Closed{.seq = 1}, kBegan);
  EXPECT_EQ(told_.size(), 2U);
  EXPECT_EQ(end_.exit_code, std::nullopt);
  EXPECT_EQ(end_.failure, "the session is lost");
}

TEST_F(ExecEventsTest, TellsThatASandboxHasDeniedSomethingAndWhatIsLost) {
  ExecEvents events = Make();
  events.OnEvent(Lost{.from_seq = 1, .to_seq = 2}, kBegan);
  events.OnEvent(Exited{.seq = 3, .exit_code = 1, .sandbox_denied = true}, kBegan);
  events.OnEvent(Closed{.seq = 4}, kBegan);
  EXPECT_TRUE(end_.sandbox_denied);
  EXPECT_THAT(end_.lost, ElementsAre(Lost{.from_seq = 1, .to_seq = 2}));
}

TEST_F(ExecEventsTest, KeepsTheBeginningAndTheEndOfALongOutput) {
  ExecEvents events = Make(8);
  for (char c = 'a'; c <= 'z'; ++c) events.OnEvent(Output{.seq = 1, .bytes = std::string(1, c)}, kBegan);
  events.OnEvent(Closed{.seq = 27}, kBegan);
  EXPECT_EQ(end_.aggregated, "abcdwxyz");
  EXPECT_EQ(end_.omitted_bytes, 18U);
}

TEST_F(ExecEventsTest, KeepsAnOutputOfExactlyItsSize) {
  ExecEvents events = Make(8);
  events.OnEvent(Output{.seq = 1, .bytes = "abcdefgh"}, kBegan);
  events.OnEvent(Closed{.seq = 2}, kBegan);
  EXPECT_EQ(end_.aggregated, "abcdefgh");
  EXPECT_EQ(end_.omitted_bytes, 0U);
}

}  // namespace
}  // namespace holdfast::client
