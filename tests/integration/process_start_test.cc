// Tests of what process/start does with its params, and of what the command finds when it runs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <fstream>
#include <string>
#include <vector>

#include "support/rpc_client.h"
#include "support/server_process.h"
#include "sys/file_limit.h"

namespace holdfast::support {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

class ProcessStartTest : public testing::Test {
 protected:
  // Runs a command and returns its output.
  std::string Run(const StartRequest& request) {
    client_.Start(request);
    return client_.WaitForClosed(request.id);
  }
  int64_t ErrorOf(const StartRequest& request) { return client_.Call("process/start", request.Params()).error_code(); }
  // Returns the environment of a command under an environment policy, sorted, as env(1) prints it.
  std::string EnvironmentUnder(const std::string& policy, const std::string& env = "{}") {
    return Run({.id = "env" + std::to_string(++runs_),
                .argv = {"/bin/sh", "-c", "/usr/bin/env | /usr/bin/sort"},
                .more = R"("env":)" + env + R"(,"envPolicy":)" + policy});
  }

  ServerProcess server_ = ServerProcess::Start(
      {.env = {"HOLDFAST_PLAIN=1", "HOLDFAST_api_key=2", "HOLDFAST_SECRET=3", "HOLDFAST_TOKENS=4", "LC_CTYPE=C"}});
  RpcClient client_ = RpcClient::Ready(server_.url());
  int runs_ = 0;
};

TEST_F(ProcessStartTest, GivesNoInputUnlessAskedTo) {
  EXPECT_EQ(Run(Shell("p", "readlink /proc/self/fd/0; wc -c")), "/dev/null\n0\n");
  EXPECT_EQ(Run({.id = "q", .argv = {"readlink", "/proc/self/fd/0"}, .more = R"("io":{"pipe":{"stdin":"closed"}})"}),
            "/dev/null\n");
}

TEST_F(ProcessStartTest, OpensAPipeForInputInBothSpellings) {
  client_.Start(Shell("old", "read line; echo $line", Stdin::kPipe));
  client_.Start(
      {.id = "new", .argv = {"sh", "-c", "read line; echo $line"}, .more = R"("io":{"pipe":{"stdin":"open"}})"});
  for (const char* id : {"old", "new"}) {
    client_.Write(id, "hello\n");
    EXPECT_EQ(client_.WaitForClosed(id), "hello\n");
  }
}

TEST_F(ProcessStartTest, GivesATerminalOf24By80) {
  EXPECT_EQ(Run(Terminal("t", "stty size; test -t 0 && test -t 1 && test -t 2 && echo tty")), "24 80\r\ntty\r\n");
  EXPECT_EQ(client_.Output("t", "pty"), client_.Output("t"));
}

TEST_F(ProcessStartTest, GivesATerminalOfTheAskedSize) {
  EXPECT_EQ(Run({.id = "t", .argv = {"stty", "size"}, .more = R"("io":{"pty":{"rows":7,"cols":300}})"}), "7 300\r\n");
}

TEST_F(ProcessStartTest, PrefersTheTerminalOverThePipe) {
  StartRequest request = Terminal("t", "test -t 0 && echo tty");
  request.pipe_stdin = true;
  EXPECT_EQ(Run(request), "tty\r\n");
}

TEST_F(ProcessStartTest, MakesTheTerminalTheControllingOne) {
  EXPECT_EQ(Run(Terminal("t", "echo tty > /dev/tty")), "tty\r\n");
}

TEST_F(ProcessStartTest, LeadsASessionAndAGroupOfItsOwn) {
  for (const bool tty : {false, true}) {
    StartRequest request = Shell(tty ? "t" : "p", "set -- $(cat /proc/$$/stat); echo $1 $5 $6");
    request.tty = tty;
    const std::string ids = Run(request);
    const std::string pid = ids.substr(0, ids.find(' '));
    EXPECT_THAT(ids, StartsWith(pid + " " + pid + " " + pid)) << tty;
  }
}

TEST_F(ProcessStartTest, InheritsNoDescriptorAndNoSignalState) {
  EXPECT_EQ(Run({.id = "fds", .argv = {"/bin/ls", "/proc/self/fd"}}), "0\n1\n2\n3\n");  // 3: the directory itself
  EXPECT_EQ(Run(Shell("signals", "grep -E 'Sig(Blk|Ign)' /proc/self/status")),
            "SigBlk:\t0000000000000000\nSigIgn:\t0000000000000000\n");
}

TEST_F(ProcessStartTest, RunsInTheGivenDirectory) {
  TempDir dir;
  EXPECT_EQ(Run({.id = "path", .argv = {"pwd", "-P"}, .cwd = "/usr/bin"}), "/usr/bin\n");
  EXPECT_EQ(Run({.id = "uri", .argv = {"/bin/pwd"}, .cwd = "file://" + dir.Path()}), dir.Path() + "\n");
}

TEST_F(ProcessStartTest, ReplacesArgvZeroOnly) {
  StartRequest request = Shell("p", "echo $0; readlink /proc/$$/exe");
  request.more = R"("arg0":"nickname")";
  EXPECT_THAT(Run(request), StartsWith("nickname\n/"));
}

TEST_F(ProcessStartTest, LooksUpABareNameInTheCommandsOwnPath) {
  TempDir dir;
  std::ofstream(dir.Path("tool")) << "#!/bin/sh\necho found\n";
  ::chmod(dir.Path("tool").c_str(), 0700);
  EXPECT_EQ(Run({.id = "p", .argv = {"tool"}, .more = R"("env":{"PATH":"/nowhere:)" + dir.Path() + R"("})"}),
            "found\n");
  EXPECT_EQ(ErrorOf({.id = "q", .argv = {"tool"}}), -32603);
  EXPECT_EQ(Run({.id = "r", .argv = {"echo", "default path"}, .more = R"("env":{})"}), "default path\n");
}

TEST_F(ProcessStartTest, GivesExactlyTheEnvironmentWithoutAPolicy) {
  EXPECT_EQ(Run({.id = "p", .argv = {"/usr/bin/env"}, .more = R"("env":{"A":"1","B":"two words"})"}),
            "A=1\nB=two words\n");
  EXPECT_EQ(Run({.id = "q", .argv = {"/usr/bin/env"}, .more = R"("env":{})"}), "");
}

TEST_F(ProcessStartTest, InheritsAllButWhatLooksLikeACredential) {
  const std::string env =
      EnvironmentUnder(R"({"inherit":"all","ignoreDefaultExcludes":false,"exclude":[],"set":{},"includeOnly":[]})");
  EXPECT_THAT(env, HasSubstr("HOLDFAST_PLAIN=1\n"));
  EXPECT_THAT(env, HasSubstr("PATH="));
  for (const char* name : {"HOLDFAST_api_key", "HOLDFAST_SECRET", "HOLDFAST_TOKENS"})
    EXPECT_THAT(env, Not(HasSubstr(name)));
}

TEST_F(ProcessStartTest, InheritsCredentialsOnlyWhenToldTo) {
  const std::string env = EnvironmentUnder(
      R"({"inherit":"all","ignoreDefaultExcludes":true,"exclude":["*_sec*"],"set":{},"includeOnly":["HOLDFAST_*"]})");
  EXPECT_THAT(env, HasSubstr("HOLDFAST_api_key=2\n"));
  EXPECT_THAT(env, HasSubstr("HOLDFAST_TOKENS=4\n"));
  EXPECT_THAT(env, Not(HasSubstr("LC_CTYPE")));
  EXPECT_THAT(env, Not(HasSubstr("HOLDFAST_SECRET")));
}

TEST_F(ProcessStartTest, InheritsTheCoreByName) {
  const std::string env =
      EnvironmentUnder(R"({"inherit":"core","ignoreDefaultExcludes":false,"exclude":[],"set":{},"includeOnly":[]})");
  EXPECT_THAT(env, HasSubstr("LC_CTYPE=C\n"));
  EXPECT_THAT(env, Not(HasSubstr("HOLDFAST_PLAIN")));
}

TEST_F(ProcessStartTest, SetsThenFiltersThenOverlays) {
  EXPECT_EQ(
      EnvironmentUnder(
          R"({"inherit":"none","ignoreDefaultExcludes":false,"exclude":[],"set":{"A":"1","B":"1"},"includeOnly":["a"]})",
          R"({"C":"3","A":"2"})"),
      "A=2\nC=3\nPWD=/\n");  // PWD: the shell's own
}

TEST_F(ProcessStartTest, RefusesHalfAPolicy) {
  EXPECT_EQ(ErrorOf({.id = "p", .argv = {"true"}, .more = R"("envPolicy":{"inherit":"all"})"}), -32602);
  EXPECT_EQ(ErrorOf({.id = "p",
                     .argv = {"true"},
                     .more = R"("envPolicy":{"inherit":"most","ignoreDefaultExcludes":false,)"
                             R"("exclude":[],"set":{},"includeOnly":[]})"}),
            -32602);
}

// Matching this policy would keep the server from serving other clients for minutes.
TEST_F(ProcessStartTest, RefusesAPolicyThatTakesTooLongToMatch) {
  const std::string text(1u << 20, 'a');
  const StartRequest request{.id = "p",
                             .argv = {"true"},
                             .more = R"("envPolicy":{"inherit":"none","ignoreDefaultExcludes":true,"exclude":[],)"
                                     R"("set":{")" +
                                     text + R"(":""},"includeOnly":["*)" + text.substr(0, 1u << 19) + R"(b"]})"};
  const int64_t start = client_.Send("process/start", request.Params());
  const int64_t list = client_.Send("process/list");
  EXPECT_EQ(client_.Await(start).error_code(), -32600);
  EXPECT_TRUE(client_.Await(list).Has("result"));
}

TEST_F(ProcessStartTest, RefusesAVariableThatCannotHaveThatName) {
  for (const char* env : {R"({"":"x"})", R"({"=":"x"})", R"({"A=B":"x"})"}) {
    EXPECT_EQ(ErrorOf({.id = "p", .argv = {"true"}, .more = std::string(R"("env":)") + env}), -32602) << env;
  }
}

// A server that ignored one of these members would give the command more rights than the client asked for.
TEST_F(ProcessStartTest, RefusesARestrictionItCannotEnforce) {
  for (const char* member :
       {R"("sandbox":{})", R"("sandbox":{"permissions":{"type":"later"},"windowsSandboxLevel":"disabled"})",
        R"("enforceManagedNetwork":true)", R"("managedNetwork":{})", R"("networkProxy":{})", R"("shellSnapshot":{})"}) {
    EXPECT_EQ(ErrorOf({.id = "p", .argv = {"true"}, .more = member}), -32602) << member;
  }
  EXPECT_EQ(
      Run({.id = "p",
           .argv = {"echo", "ran"},
           .more =
               R"("sandbox":null,"enforceManagedNetwork":false,"managedNetwork":null,"metadata":{"threadId":"x"})"}),
      "ran\n");
}

TEST_F(ProcessStartTest, LeavesTheIdFreeAfterAFailure) {
  TempDir dir;
  std::ofstream(dir.Path("no_shebang")) << "echo never\n";
  ::chmod(dir.Path("no_shebang").c_str(), 0700);
  for (const bool tty : {false, true}) {
    EXPECT_EQ(ErrorOf({.id = "p", .argv = {"/no/such/program"}, .tty = tty}), -32603);
    EXPECT_EQ(ErrorOf({.id = "p", .argv = {"no-such-program"}, .tty = tty}), -32603);
    EXPECT_EQ(ErrorOf({.id = "p", .argv = {"/usr"}, .tty = tty}), -32603);
    EXPECT_EQ(ErrorOf({.id = "p", .argv = {dir.Path("no_shebang")}, .tty = tty}), -32603);
    EXPECT_EQ(ErrorOf({.id = "p", .argv = {""}, .tty = tty}), -32603);
    EXPECT_EQ(ErrorOf({.id = "p", .argv = {"true", std::string("\0", 1)}, .tty = tty}), -32603);
    EXPECT_EQ(ErrorOf({.id = "p", .argv = {"true"}, .tty = tty, .cwd = "/no/such/directory"}), -32603);
    EXPECT_EQ(ErrorOf({.id = "p", .argv = {"true"}, .tty = tty, .cwd = "/etc/passwd"}), -32603);
    EXPECT_EQ(ErrorOf({.id = "p", .argv = {"true"}, .tty = tty, .cwd = "relative"}), -32602);
    EXPECT_EQ(ErrorOf({.id = "p", .argv = {"true"}, .tty = tty, .cwd = "http://host/x"}), -32602);
    EXPECT_EQ(ErrorOf({.id = "p", .argv = {}, .tty = tty}), -32602);
  }
  EXPECT_EQ(Run({.id = "p", .argv = {"echo", "at last"}}), "at last\n");
}

TEST_F(ProcessStartTest, SaysWhatFailed) {
  const Message program = client_.Call("process/start", StartRequest{.id = "p", .argv = {"/no/such"}}.Params());
  EXPECT_EQ(program.Text("error.message"), "execute /no/such: No such file or directory (os error 2)");
  const Message cwd =
      client_.Call("process/start", StartRequest{.id = "p", .argv = {"true"}, .cwd = "/no/such"}.Params());
  EXPECT_EQ(cwd.Text("error.message"), "enter directory /no/such: No such file or directory (os error 2)");
}

TEST_F(ProcessStartTest, RefusesAnIdThatIsTaken) {
  client_.Start({.id = "p", .argv = {"cat"}, .pipe_stdin = true});
  EXPECT_EQ(ErrorOf({.id = "p", .argv = {"true"}}), -32600);
  client_.CloseStdin("p");
  client_.WaitForClosed("p");
  EXPECT_EQ(ErrorOf({.id = "p", .argv = {"true"}}), -32600) << "finished, but still readable";
}

TEST_F(ProcessStartTest, TakesAnyIdOfUpTo1024Bytes) {
  for (const std::string& id :
       {std::string(), std::string("\0\n\"\\", 4), std::string("ключ 🔑"), std::string(1024, 'x')}) {
    EXPECT_EQ(Run({.id = id, .argv = {"echo", "ok"}}), "ok\n");
  }
  EXPECT_EQ(ErrorOf({.id = std::string(1025, 'x'), .argv = {"true"}}), -32602);
}

TEST_F(ProcessStartTest, RunsAPreparedCommandAsItIs) {
  client_.Call("process/start",
               R"({"processId":"p","tty":false,"prepared":{"program":"/bin/sh",)"
               R"("argv":["name","-c","echo $0 $X; pwd"],"env":{"X":"1"},"cwd":"/usr","arg0":"other"}})");
  EXPECT_EQ(client_.WaitForClosed("p"), "other 1\n/usr\n");
  const Message bare = client_.Call("process/start", R"({"processId":"q","tty":false,"prepared":{"program":"sh",)"
                                                     R"("argv":["sh"],"env":{"PATH":"/bin"},"cwd":"/usr"}})");
  EXPECT_EQ(bare.error_code(), -32603) << "nothing is looked up";
}

TEST(ProcessStartLimitTest, RefusesTheKindsOfStartThatAreSwitchedOff) {
  const char* prepared =
      R"({"processId":"p","tty":false,"prepared":{"program":"/bin/true","argv":["true"],"env":{},"cwd":"/"}})";
  const std::string direct = StartRequest{.id = "q", .argv = {"true"}}.Params();
  ServerProcess no_prepared = ServerProcess::Start({"--allow-prepared-exec=false"});
  RpcClient first = RpcClient::Ready(no_prepared.url());
  EXPECT_EQ(first.Call("process/start", prepared).error_code(), -32600);
  EXPECT_EQ(first.Call("process/start", direct).error_code(), 0);
  ServerProcess no_direct = ServerProcess::Start({"--allow-direct-exec=false"});
  RpcClient second = RpcClient::Ready(no_direct.url());
  EXPECT_EQ(second.Call("process/start", prepared).error_code(), 0);
  EXPECT_EQ(second.Call("process/start", direct).error_code(), -32600);
}

TEST(ProcessStartLimitTest, RefusesArgumentsAndEnvironmentAboveTheLimit) {
  ServerProcess server = ServerProcess::Start({"--max-argv-bytes", "1024", "--max-env-bytes", "1024"});
  RpcClient client = RpcClient::Ready(server.url());
  const std::string large(1024, 'x');
  EXPECT_EQ(client.Call("process/start", StartRequest{.id = "p", .argv = {"true", large}}.Params()).error_code(),
            -32600);
  const StartRequest env{.id = "p", .argv = {"true"}, .more = R"("env":{"X":")" + large + R"("})"};
  EXPECT_EQ(client.Call("process/start", env.Params()).error_code(), -32600);
  client.Start({.id = "p", .argv = {"true"}});
}

TEST(ProcessStartLimitTest, RefusesProcessesAboveTheLimitAndTakesThemAgainBelowIt) {
  ServerProcess server = ServerProcess::Start({"--max-processes-per-connection", "2", "--max-processes", "3"});
  RpcClient first = RpcClient::Ready(server.url()), second = RpcClient::Ready(server.url());
  const auto cat = [](std::string id) {
    return StartRequest{.id = std::move(id), .argv = {"cat"}, .pipe_stdin = true};
  };
  first.Start(cat("1"));
  first.Start(cat("2"));
  EXPECT_EQ(first.Call("process/start", cat("3").Params()).error_code(), -32600);
  second.Start(cat("1"));
  EXPECT_EQ(second.Call("process/start", cat("2").Params()).error_code(), -32600);
  first.Call("process/terminate", IdParams("1"));
  first.WaitForExit("1");
  first.Start(cat("3"));
}

// Each command exits at once, so that none of them counts as running.
TEST(ProcessStartLimitTest, BoundsWhatFinishedCommandsLeaveRunningByTwiceTheLimit) {
  ServerProcess server = ServerProcess::Start({"--max-processes", "4"});
  RpcClient client = RpcClient::Ready(server.url());
  for (int i = 0; i < 8; ++i) {
    const std::string id = std::to_string(i);
    client.Start(Shell(id, "setsid sleep 1000 >/dev/null 2>&1 & exit 0"));
    client.WaitForExit(id);
  }
  EXPECT_EQ(client.Call("process/start", Shell("more", "true").Params()).error_code(), -32600);
  for (const char* id : {"3", "5"}) client.Call("process/terminate", IdParams(id, R"("mode":"force")"));
  for (const char* id : {"more", "and more"}) {
    client.Start(Shell(id, "setsid sleep 1000 >/dev/null 2>&1 & exit 0"));
    client.WaitForExit(id);
  }
  EXPECT_EQ(client.Call("process/start", Shell("too many", "true").Params()).error_code(), -32600);
}

TEST(ProcessStartLimitTest, PassesTheLimitOfDescriptorsOnAsItWas) {
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  if (before.rlim_max <= 512) GTEST_SKIP() << "the hard limit leaves nothing to raise";
  const rlimit low{.rlim_cur = 512, .rlim_max = before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &low), 0);
  ServerProcess server = ServerProcess::Start();
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
  RpcClient client = RpcClient::Ready(server.url());
  client.Start(Shell("p", "ulimit -Sn"));
  EXPECT_EQ(client.WaitForClosed("p"), "512\n");
  rlimit of_server{};
  ASSERT_EQ(::prlimit(server.pid(), RLIMIT_NOFILE, nullptr, &of_server), 0);
  EXPECT_EQ(of_server.rlim_cur, sys::UsualFileLimit(before.rlim_max));
}

}  // namespace
}  // namespace holdfast::support
