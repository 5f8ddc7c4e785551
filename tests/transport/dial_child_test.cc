#include <signal.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include "support/scratch_dir.h"
#include "transport/dialler.h"

namespace holdfast::transport {
namespace {

using std::chrono::milliseconds;

Peer* StartChild(Dialler& client, std::vector<std::string> argv, const Limits& limits = {}) {
  auto dialled = DialChild(client.loop(), {.argv = std::move(argv)}, limits);
  if (!dialled) ADD_FAILURE() << dialled.error().message;
  return dialled ? client.Attach(*std::move(dialled)) : nullptr;
}

bool Exists(pid_t pid) { return ::kill(pid, 0) == 0; }

TEST(DialChildTest, ExchangesLinesWithTheChild) {
  Dialler client;
  Peer* peer = StartChild(client, {"cat"});
  ASSERT_NE(peer, nullptr);
  peer->transport()->Send("one");
  peer->transport()->Send("two");
  EXPECT_EQ(client.Receive(*peer), "one");
  EXPECT_EQ(client.Receive(*peer), "two");
}

TEST(DialChildTest, LetsTheChildExitWhenItsInputEnds) {
  const support::ScratchDir dir;
  const std::string file = dir.path() + "/done";
  Dialler client;
  Peer* peer = StartChild(client, {"/bin/sh", "-c", "cat; : > \"$0\"", file});
  ASSERT_NE(peer, nullptr);
  peer->transport()->Close();
  EXPECT_TRUE(client.AwaitClosed(*peer));
  EXPECT_EQ(::access(file.c_str(), F_OK), 0);
}

TEST(DialChildTest, KillsAndReapsAChildThatDoesNotExit) {
  Dialler client;
  Limits limits;
  limits.close_timeout = milliseconds(20);
  Peer* peer = StartChild(client, {"/bin/sh", "-c", "echo $$; exec sleep 1000"}, limits);
  ASSERT_NE(peer, nullptr);
  const pid_t pid = std::stoi(client.Receive(*peer));
  ASSERT_TRUE(Exists(pid));
  peer->transport()->Close();
  EXPECT_TRUE(client.AwaitClosed(*peer));
  EXPECT_FALSE(Exists(pid));
}

TEST(DialChildTest, KillsTheChildWhenTheConnectionIsDestroyed) {
  pid_t pid = 0;
  {
    Dialler client;
    Peer* peer = StartChild(client, {"/bin/sh", "-c", "echo $$; exec sleep 1000"});
    ASSERT_NE(peer, nullptr);
    pid = std::stoi(client.Receive(*peer));
    ASSERT_TRUE(Exists(pid));
  }
  EXPECT_FALSE(Exists(pid));
}

TEST(DialChildTest, EndsWithTheChild) {
  Dialler client;
  Peer* peer = StartChild(client, {"/bin/sh", "-c", "echo last"});
  ASSERT_NE(peer, nullptr);
  EXPECT_EQ(client.Receive(*peer), "last");
  EXPECT_TRUE(client.AwaitClosed(*peer));
}

TEST(DialChildTest, SurvivesAChildThatReadsNothing) {
  Dialler client;
  Peer* peer = StartChild(client, {"true"});
  ASSERT_NE(peer, nullptr);
  for (int i = 0; i < 100; ++i) peer->transport()->Send(std::string(10'000, 'x'));
  EXPECT_TRUE(client.AwaitClosed(*peer));
}

TEST(DialChildTest, SaysThatThereIsNoSuchProgram) {
  Dialler client;
  const auto dialled = DialChild(client.loop(), {.argv = {"/nonexistent/program"}});
  ASSERT_FALSE(dialled.has_value());
  EXPECT_EQ(dialled.error().message, "start /nonexistent/program: No such file or directory");
}

TEST(DialChildTest, RefusesAnEmptyCommand) {
  Dialler client;
  const auto dialled = DialChild(client.loop(), {});
  ASSERT_FALSE(dialled.has_value());
  EXPECT_EQ(dialled.error().kind, ErrorKind::kInvalidParams);
}

}  // namespace
}  // namespace holdfast::transport
