#include "exec_server/processes/observer.h"

#include <filesystem>

#include "exec_server/session/shared_session_fixture.h"
#include "support/eventually.h"
#include "support/scratch_dir.h"

namespace holdfast::exec_server {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

// Tests of a driver and observers of one session, whose processes are real.
class ObserverTest : public SharedSessionFixture {
 protected:
  static constexpr char kMuch[] = "head -c 3000000 /dev/zero";  // three times as much as is retained
  static constexpr size_t kMoreThanAllRetention = 300u << 20;

  // Makes the server forget the finished processes, of which `id` is one.
  void ForgetAll(Client& driver, std::string_view id) {
    parts_->retention.Keep(kMoreThanAllRetention, [] {});
    ASSERT_TRUE(RunUntil([&] { return Call(driver, "process/read", Named(id)).error_code() == -32600; }));
  }

  // Runs so many processes at once to their end, and makes the server forget them.
  void StartMany(Client& driver, size_t first, size_t count) {
    driver.Forget();
    for (size_t i = first; i < first + count; ++i) {
      driver.Ask("process/start",
                 fmt::format(R"({{"processId":"{}","argv":["/bin/true"],"cwd":"/","env":{{}},"tty":false}})", i));
    }
    ASSERT_TRUE(RunUntil([&] {
      const auto is_close = [](const std::string& text) { return text.starts_with(R"({"method":"process/closed")"); };
      return static_cast<size_t>(std::ranges::count_if(driver.sent(), is_close)) == count;
    }));
    ForgetAll(driver, std::to_string(first + count - 1));
  }
};

TEST_F(ObserverTest, IsToldWhatTheDriverIsTold) {
  Client &driver = Join(), &one = Join(), &other = Join();
  Start(driver, "p", "echo out; echo err >&2; exit 3");
  Start(driver, "q", "echo more");
  ASSERT_TRUE(RunUntilClosed(driver, 2));
  EXPECT_GE(Events(driver).size(), 7u);
  EXPECT_EQ(Events(one), Events(driver));
  EXPECT_EQ(Events(other), Events(driver));
}

TEST_F(ObserverTest, IsToldOfTheLifecycleIfItAsks) {
  Client& driver = Join();
  Client& curious = Join(R"(,"capabilities":{"lifecycle":true})");
  Start(driver, "p", "exit 0");
  Call(driver, "process/start", R"({"processId":"q","argv":["/no/such"],"cwd":"/","env":{},"tty":false})");
  ASSERT_TRUE(RunUntilClosed(curious));
  EXPECT_FALSE(driver.Got("process/started"));
  EXPECT_EQ(Message(Events(curious).at(0)).Text("method"), "process/started");
  EXPECT_EQ(curious.Notifications("process/started").at(0).Text("params.processId"), "p");
  EXPECT_EQ(curious.Notifications("process/failed").at(0).Text("params.processId"), "q");
}

TEST_F(ObserverTest, IsToldOfAProcessFromItsAttachmentOn) {
  Client& driver = Join();
  Start(driver, "done", "echo before");
  ASSERT_TRUE(RunUntilClosed(driver));
  Start(driver, "p", "echo one; read line; echo two", R"(,"pipeStdin":true)");
  ASSERT_TRUE(RunUntil([&] { return driver.Notifications("process/output").size() == 2; }));
  Client& observer = Join();
  Call(driver, "process/closeStdin", Named("p"));
  ASSERT_TRUE(RunUntilClosed(observer));
  EXPECT_THAT(Seqs(observer, "p"), ElementsAre(2, 3, 4));
  EXPECT_THAT(Seqs(observer, "done"), IsEmpty());
  EXPECT_EQ(Call(observer, "process/read", Named("p")).Bytes("result.chunks.0.chunk"), "one\n");
}

TEST_F(ObserverTest, HoldsUpNobodyWhenItDoesNotRead) {
  Client &driver = Join(), &reader = Join(), &sleeper = Join();
  sleeper.transport->is_congested = true;
  Start(driver, "p", kMuch);
  ASSERT_TRUE(RunUntilClosed(driver));
  const int64_t last = driver.Notifications("process/closed").at(0).Number("params.seq");
  EXPECT_EQ(Seqs(driver, "p"), UpTo(last));
  EXPECT_EQ(Events(reader), Events(driver));
  EXPECT_THAT(Events(sleeper), IsEmpty());

  sleeper.transport->Drain();
  const auto lost = sleeper.Notifications("process/outputLost");
  ASSERT_THAT(lost, SizeIs(1));
  EXPECT_EQ(lost[0].Number("params.fromSeq"), 1);
  EXPECT_EQ(Message(Events(sleeper).at(0)).Text("method"), "process/outputLost");
  EXPECT_EQ(Seqs(sleeper, "p"), UpTo(last));
  EXPECT_GT(sleeper.Notifications("process/output").size(), 5u);
  EXPECT_TRUE(sleeper.Got("process/exited") && sleeper.Got("process/closed"));
}

TEST_F(ObserverTest, LosesNothingThatIsRetained) {
  Client &driver = Join(), &sleeper = Join();
  sleeper.transport->is_congested = true;
  Start(driver, "p", "head -c 500000 /dev/zero; exit 7");
  ASSERT_TRUE(RunUntilClosed(driver));
  sleeper.transport->Drain();
  EXPECT_EQ(Events(sleeper), Events(driver));
}

TEST_F(ObserverTest, GoesOnWhereItStoppedWheneverItHasRoom) {
  Client &driver = Join(), &slow = Join();
  slow.transport->is_congested = true;
  Start(driver, "p", "head -c 500000 /dev/zero");
  ASSERT_TRUE(RunUntilClosed(driver));
  const size_t events = Events(driver).size();
  for (size_t got = 0; got < events; got += 2) {
    slow.transport->DrainFor(2);
    EXPECT_EQ(Events(slow).size(), std::min(got + 2, events));
  }
  EXPECT_EQ(Events(slow), Events(driver));
}

TEST_F(ObserverTest, IsToldOfAllProcessesInTurn) {
  Client &driver = Join(), &slow = Join();
  slow.transport->is_congested = true;
  for (const char* id : {"a", "b", "c"}) Start(driver, id, "head -c 500000 /dev/zero");
  ASSERT_TRUE(RunUntilClosed(driver, 3));
  slow.transport->DrainFor(2);
  slow.transport->DrainFor(1);
  EXPECT_THAT(Seqs(slow, "a"), ElementsAre(1));
  EXPECT_THAT(Seqs(slow, "b"), ElementsAre(1));
  EXPECT_THAT(Seqs(slow, "c"), ElementsAre(1));
}

TEST_F(ObserverTest, IsToldOfAStartThatItMissed) {
  Client& driver = Join();
  Client& sleeper = Join(R"(,"capabilities":{"lifecycle":true})");
  sleeper.transport->is_congested = true;
  Start(driver, "p", "echo hi");
  ASSERT_TRUE(RunUntilClosed(driver));
  sleeper.transport->Drain();
  ASSERT_FALSE(Events(sleeper).empty());
  EXPECT_EQ(Message(Events(sleeper)[0]).Text("method"), "process/started");
  EXPECT_EQ(Seqs(sleeper, "p"), Seqs(driver, "p"));
}

TEST_F(ObserverTest, IsToldWhatItMissedWhenAProcessIsForgotten) {
  Client &driver = Join(), &sleeper = Join();
  sleeper.transport->is_congested = true;
  Start(driver, "p", "echo hi; exit 4");
  ASSERT_TRUE(RunUntilClosed(driver));
  ForgetAll(driver, "p");
  EXPECT_THAT(Events(sleeper), IsEmpty());
  Start(driver, "p", "exit 5");  // another process of the same name
  ASSERT_TRUE(RunUntilClosed(driver, 2));
  sleeper.transport->DrainFor(1);
  EXPECT_THAT(Events(sleeper), SizeIs(1));
  sleeper.transport->DrainFor(1000);
  EXPECT_EQ(Seqs(sleeper, "p"), Seqs(driver, "p"));
  EXPECT_FALSE(sleeper.Got("process/output"));
  EXPECT_EQ(sleeper.Notifications("process/exited").at(0).Number("params.exitCode"), 4);
  EXPECT_EQ(sleeper.Notifications("process/exited").at(1).Number("params.exitCode"), 5);
  EXPECT_EQ(sleeper.Notifications("process/closed").size(), 2u);
}

TEST_F(ObserverTest, IsClosedWhenItHasMissedTheEndOfTooManyProcesses) {
  Client &driver = Join(), &sleeper = Join(), &reader = Join();
  sleeper.transport->is_congested = true;
  const size_t batch = 50;
  size_t forgotten = 0;
  while (forgotten + batch <= Observer::kMaxForgotten) {
    StartMany(driver, forgotten, batch);
    forgotten += batch;
  }
  support::RunReady(loop_);
  EXPECT_TRUE(sleeper.transport->connected());
  StartMany(driver, forgotten, Observer::kMaxForgotten - forgotten + 1);
  EXPECT_TRUE(RunUntil([&] { return !sleeper.transport->connected(); }));
  EXPECT_THAT(Events(sleeper), IsEmpty());
  EXPECT_TRUE(reader.transport->connected());
  EXPECT_EQ(Start(driver, "after", "exit 0").error_code(), 0);
}

TEST_F(ObserverTest, GoesOnWithAProcessThatHadNoNewsMeanwhile) {
  Client &driver = Join(), &slow = Join();
  for (const char* id : {"a", "b", "c"}) Start(driver, id, "read line; echo late", R"(,"pipeStdin":true)");
  slow.transport->is_congested = true;
  Call(driver, "process/closeStdin", Named("c"));
  ASSERT_TRUE(RunUntilClosed(driver));
  slow.transport->DrainFor(1);
  Call(driver, "process/closeStdin", Named("a"));
  ASSERT_TRUE(RunUntilClosed(driver, 2));
  slow.transport->DrainFor(1000);
  EXPECT_EQ(Seqs(slow, "c"), Seqs(driver, "c"));
  EXPECT_EQ(Seqs(slow, "a"), Seqs(driver, "a"));
  EXPECT_THAT(Seqs(slow, "b"), IsEmpty());
  Call(driver, "process/closeStdin", Named("b"));
  ASSERT_TRUE(RunUntilClosed(slow, 3));
  EXPECT_EQ(Seqs(slow, "b"), Seqs(driver, "b"));
}

TEST_F(ObserverTest, IsNotToldOfAFailedStartWhileItDoesNotRead) {
  Client& driver = Join();
  Client& sleeper = Join(R"(,"capabilities":{"lifecycle":true})");
  sleeper.transport->is_congested = true;
  Call(driver, "process/start", R"({"processId":"q","argv":["/no/such"],"cwd":"/","env":{},"tty":false})");
  sleeper.transport->Drain();
  EXPECT_THAT(Events(sleeper), IsEmpty());
}

TEST_F(ObserverTest, DoesNotGetTheOutputThatACongestedDriverHoldsUp) {
  const support::ScratchDir dir;
  const std::string flag = dir.path() + "/written";
  Client &driver = Join(), &observer = Join();
  Start(driver, "p", "echo one; read line; echo two; : >" + flag + "; sleep 1000", R"(,"pipeStdin":true)");
  ASSERT_TRUE(RunUntil([&] { return observer.Got("process/output"); }));
  driver.transport->is_congested = true;
  Call(driver, "process/closeStdin", Named("p"));
  ASSERT_TRUE(support::Eventually([&] { return std::filesystem::exists(flag); }));
  support::RunReady(loop_);
  EXPECT_THAT(Seqs(observer, "p"), ElementsAre(1));
  driver.transport->Drain();
  ASSERT_TRUE(RunUntil([&] { return observer.Notifications("process/output").size() == 2; }));
  EXPECT_EQ(Events(observer), Events(driver));
}

TEST_F(ObserverTest, GetsOutputWhileNoClientDrives) {
  Client &driver = Join(), &observer = Join();
  Start(driver, "p", "read line; echo late", R"(,"pipeStdin":true)");
  driver.transport->is_congested = true;
  Call(driver, "process/closeStdin", Named("p"));
  driver.transport->Disconnect();
  ASSERT_TRUE(RunUntilClosed(observer));
  EXPECT_EQ(observer.Notifications("process/output").at(0).Bytes("params.chunk"), "late\n");
}

}  // namespace
}  // namespace holdfast::exec_server
