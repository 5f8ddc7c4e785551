// A jail runs the commands that a server asks for.
#include "sandbox/native/jail_process.h"

#include <netinet/in.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <termios.h>

#include "base/record.h"
#include "sandbox/native/jail_fixture.h"
#include "sandbox/outcome.h"
#include "support/exec_supervisor.h"
#include "support/proc.h"
#include "sys/pty.h"
#include "sys/socket_pair.h"

namespace holdfast::sandbox {
namespace {

using testing::HasSubstr;

class JailProcessTest : public JailFixture {};

INSTANTIATE_TEST_SUITE_P(Users, JailProcessTest, testing::ValuesIn(UsersOfJails()), NameOfUser);

TEST_P(JailProcessTest, RunsACommandWithItsStreamsAndStatus) {
  const Finished finished = Run("echo out; echo err >&2; pwd; echo $MARK; exit 7");
  EXPECT_EQ(finished.status, 7 << 8);
  EXPECT_EQ(finished.out, fmt::format("out\n{}\n{}\n", Workspace(), workspace_.path()));
  EXPECT_EQ(finished.err, "err\n");
  EXPECT_EQ(finished.report, "started");
}

TEST_P(JailProcessTest, TellsOfPid1BeforePid1TellsAnything) {
  Launched launched = Start("exit 3");
  const auto cloned = launched.Next();
  ASSERT_TRUE(cloned);
  EXPECT_EQ(cloned->kind, KeeperEventKind::kCloned);
  EXPECT_TRUE(launched.first_process.is_open());
  EXPECT_TRUE(launched.AwaitBegun());
  EXPECT_EQ(launched.AwaitExit(), 3 << 8);
  EXPECT_EQ(launched.Next(), std::nullopt);
}

TEST_P(JailProcessTest, EnforcesThePolicy) {
  const Finished finished = Run(
      "echo x > file && echo made; echo x > /etc/x; echo x > /var/tmp/x; sed -n 's/ *\\(.*\\):.*/\\1/p' /proc/net/dev");
  EXPECT_EQ(finished.out, "made\nlo\n");
  EXPECT_THAT(finished.err, HasSubstr("/etc/x: Read-only file system"));
  EXPECT_THAT(finished.err, HasSubstr("/var/tmp/x: Read-only file system"));
}

TEST_P(JailProcessTest, CoversMissingProtectedNamesForTheTimeOfACommand) {
  const std::string git = Workspace() + "/.git";
  const Finished finished = Run("mkdir .git/x");
  EXPECT_THAT(finished.err, HasSubstr("Read-only file system"));
  EXPECT_TRUE(support::Eventually([&] { return ::access(git.c_str(), F_OK) != 0; }));
}

TEST_P(JailProcessTest, LeavesNoCapabilities) {
  const std::string status = Run("cat /proc/self/status").out;
  for (const char* set : {"CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"}) {
    EXPECT_THAT(status, HasSubstr(fmt::format("\n{}:\t0000000000000000\n", set)));
  }
  EXPECT_THAT(status, HasSubstr("\nNoNewPrivs:\t1\n"));
  EXPECT_THAT(status, HasSubstr("\nSeccomp:\t2\n"));
}

TEST_P(JailProcessTest, PassesSignalsOn) {
  Launched launched = Start("trap 'echo trapped; exit 4' USR1; echo up; while :; do sleep 0.01; done");
  launched.AwaitOutput("up\n");
  launched.Signal(SIGUSR1);
  const Finished finished = Finish(std::move(launched));
  EXPECT_EQ(finished.status, 4 << 8);
  EXPECT_EQ(finished.out, "trapped\n");
}

TEST_P(JailProcessTest, KillsEverything) {
  Launched launched = Start("trap '' TERM; (setsid sleep 1000 &); echo up; sleep 1000");
  launched.AwaitOutput("up\n");
  launched.Kill();
  EXPECT_EQ(launched.AwaitExit(), SIGKILL);
  EXPECT_TRUE(sys::AwaitEnd(launched.first_process.get()));
}

TEST_P(JailProcessTest, EndsACommandWhoseServerIsGone) {
  Launched launched = Start("trap '' TERM; echo up; sleep 1000");
  launched.AwaitOutput("up\n");
  ASSERT_TRUE(launched.AwaitBegun());
  launched.control.Reset();
  EXPECT_TRUE(support::Eventually([&] { return sys::HasEnded(launched.first_process.get()); }));
}

TEST_P(JailProcessTest, ReportsAProgramThatIsMissing) {
  const Finished finished = Finish(StartProgram({"/no/such/program"}));
  EXPECT_EQ(finished.status, 127 << 8);
  EXPECT_EQ(finished.report, "failed 127 exec /no/such/program: No such file or directory");
}

// The removal of a file takes the mount on it out of the template. The server may not notice, if another file gets the
// inode number of the first.
TEST_P(JailProcessTest, EndsWhenAFileUnderAMountWasRemoved) {
  EndJail();
  workspace_.Write(".git/config", "");
  StartJail();
  ASSERT_EQ(Start("true").AwaitExit(), 0);
  std::filesystem::remove_all(Workspace() + "/.git");
  EXPECT_EQ(Start("echo ran > file").Next(), std::nullopt);
  EXPECT_NE(::access((Workspace() + "/file").c_str(), F_OK), 0);
  EXPECT_EQ(EndJail(), kCannotEnforce << 8);
}

// The plan says which files its paths lead to.
TEST_P(JailProcessTest, MakesNoSandboxOfOtherFilesThanThoseOfItsPlan) {
  EndJail();
  workspace_.Write("sub/file", "");
  sandbox_.project_roots = {Workspace() + "/sub"};
  const std::string plan = Plan();
  std::filesystem::rename(Workspace() + "/sub", Workspace() + "/other");
  workspace_.Write("sub/file", "");
  StartJail(kProgram, plan);
  EXPECT_EQ(Start("true").Next(), std::nullopt);
  EXPECT_EQ(EndJail(), kCannotEnforce << 8);
}

// Mounts in /dev/shm are not for a template: each command has a /dev/shm of its own.
TEST_P(JailProcessTest, RunsCommandsUnderAPlanThatFitsNoTemplate) {
  EndJail();
  const support::ScratchDir shared("/dev/shm");
  EXPECT_EQ(::chown(shared.path().c_str(), GetParam(), GetParam()), 0);
  sandbox_.project_roots = {Workspace(), shared.path()};
  StartJail();
  for (int i = 0; i < 2; ++i) {
    const Finished finished =
        Run(fmt::format("echo x > {}/file && cat {}/file; echo x > /etc/x", shared.path(), shared.path()));
    EXPECT_EQ(finished.out, "x\n");
    EXPECT_THAT(finished.err, HasSubstr("/etc/x: Read-only file system"));
  }
}

TEST_P(JailProcessTest, DropsEntriesThatCannotBeMeant) {
  const RunCommand usual = EntryFor({"/bin/true"});
  const auto null = sys::OpenDevNull();
  auto pipe = sys::MakePipe(sys::OurEnd::kRead);
  const int n = null->get(), p = pipe->write_end.get();
  const auto is_dropped = [&](const RunCommand& entry, const std::function<std::vector<int>(int, int)>& fds) {
    auto control = sys::MakePacketPair();
    const auto file = sys::MakeMemoryFile("entry", EncodeRecord(JailEntry{entry}));
    Send(fds(file->get(), control->theirs.get()));
    control->theirs.Reset();
    Launched launched = {.control = std::move(control->ours)};
    return launched.Next() == std::nullopt;
  };
  EXPECT_FALSE(is_dropped(usual, [&](int f, int c) { return std::vector{f, n, n, n, c}; }));
  EXPECT_TRUE(is_dropped(usual, [&](int f, int) { return std::vector{f, n, n, n}; }));
  EXPECT_TRUE(is_dropped(usual, [&](int f, int c) { return std::vector{f, n, n, n, c, p}; }));
  EXPECT_TRUE(is_dropped(usual, [&](int, int c) { return std::vector{p, n, n, n, c}; }));
  EXPECT_TRUE(is_dropped(usual, [&](int f, int) { return std::vector{f, n, n, n, p}; }));
  RunCommand entry = usual;
  entry.has_terminal = true;
  EXPECT_TRUE(is_dropped(entry, [&](int f, int c) { return std::vector{f, n, n, n, c}; }));
  entry = usual;
  entry.is_supervised = true;
  EXPECT_TRUE(is_dropped(entry, [&](int f, int c) { return std::vector{f, n, n, n, c, p}; }));
  entry = usual;
  entry.proxies.emplace();  // the plan has no place for them
  EXPECT_TRUE(is_dropped(entry, [&](int f, int c) { return std::vector{f, n, n, n, c}; }));
  entry = usual;
  entry.command.cwd = "relative";
  EXPECT_TRUE(is_dropped(entry, [&](int f, int c) { return std::vector{f, n, n, n, c}; }));
  entry = usual;
  entry.command.argv.clear();
  EXPECT_TRUE(is_dropped(entry, [&](int f, int c) { return std::vector{f, n, n, n, c}; }));
  EXPECT_EQ(Run("exit 5").status, 5 << 8) << "the jail goes on";
}

TEST_P(JailProcessTest, GivesTheCommandNoDescriptorButItsStreams) {
  EXPECT_EQ(Run("ls /proc/self/fd | tr '\\n' ' '").out, "0 1 2 3 ") << "3 is that of ls itself";
}

TEST_P(JailProcessTest, SupervisesACommandThatAsksForIt) {
  support::ExecSupervisor supervisor;
  auto control = sys::MakePacketPair();
  auto out = sys::MakePipe(sys::OurEnd::kRead);
  const auto null = sys::OpenDevNull();
  RunCommand entry = EntryFor({"/bin/echo", "ran"});
  entry.is_supervised = true;
  const auto file = sys::MakeMemoryFile("entry", EncodeRecord(JailEntry{entry}));
  Send({file->get(), null->get(), out->write_end.get(), null->get(), control->theirs.get(),
        supervisor.helper_end().get()});
  supervisor.helper_end().Reset();
  for (OwnedFd* const ours : {&control->theirs, &out->write_end}) ours->Reset();
  ASSERT_TRUE(supervisor.ReceiveListener());
  supervisor.Confirm();
  EXPECT_EQ(supervisor.Continue(), "/bin/echo");
  Launched launched = {.control = std::move(control->ours), .out = std::move(out->read_end)};
  EXPECT_EQ(launched.AwaitExit(), 0);
  EXPECT_EQ(ReadToEnd(launched.out.get()), "ran\n");
}

TEST_P(JailProcessTest, LetsTheCommandKeepADescriptor) {
  auto control = sys::MakePacketPair();
  auto out = sys::MakePipe(sys::OurEnd::kRead);
  const auto null = sys::OpenDevNull(), kept = sys::MakeMemoryFile("kept", "kept text");
  RunCommand entry = EntryFor({"/bin/bash", "-c", "cat <&$KEPT; ls /proc/self/fd | wc -l"});
  entry.kept_variable = "KEPT";
  const auto file = sys::MakeMemoryFile("entry", EncodeRecord(JailEntry{entry}));
  Send({file->get(), null->get(), out->write_end.get(), null->get(), control->theirs.get(), kept->get()});
  for (OwnedFd* const ours : {&control->theirs, &out->write_end}) ours->Reset();
  Launched launched = {.control = std::move(control->ours), .out = std::move(out->read_end)};
  EXPECT_EQ(launched.AwaitExit(), 0);
  EXPECT_EQ(ReadToEnd(launched.out.get()), "kept text5\n") << "the streams, the kept one and that of ls";
}

TEST_P(JailProcessTest, ServesFilesUnderAPlanForThat) {
  EndJail();
  StartJail(kProgram, Plan(MissingNames::kRefused));
  EXPECT_EQ(Start("true").Next(), std::nullopt) << "a command could make the names that the file helper refuses";
  auto control = sys::MakePacketPair();
  auto requests = sys::MakeSocketPair(sys::SocketKind::kStream);
  const auto null = sys::OpenDevNull(), file = sys::MakeMemoryFile("entry", EncodeRecord(JailEntry{ServeFiles()}));
  const int theirs = requests->theirs.get();
  Send({file->get(), theirs, theirs, null->get(), control->theirs.get()});
  for (OwnedFd* const ours : {&control->theirs, &requests->theirs}) ours->Reset();
  Launched launched = {.control = std::move(control->ours)};
  ASSERT_TRUE(launched.AwaitBegun());
  const auto ask = [&](const std::string& directory) {
    const std::string request = fmt::format(
        R"({{"operation":"fs/createDirectory","params":{{"path":"file://{}/{}"}}}})", Workspace(), directory);
    EXPECT_TRUE(sys::SendAll(requests->ours.get(), request + "\n"));
    char answer[4096];
    const ssize_t size = sys::Read(requests->ours.get(), answer, sizeof answer);
    return std::string(answer, size > 0 ? static_cast<size_t>(size) : 0);
  };
  EXPECT_THAT(ask("made"), HasSubstr(R"("status":"ok")"));
  EXPECT_TRUE(std::filesystem::exists(Workspace() + "/made"));
  EXPECT_THAT(ask(".git"), HasSubstr(R"("status":"error")"));
  EXPECT_FALSE(std::filesystem::exists(Workspace() + "/.git"));
  requests->ours.Reset();
  EXPECT_EQ(launched.AwaitExit(), 0);
}

// The proxy is a listener of the test, which answers one connection.
TEST_P(JailProcessTest, CarriesConnectionsToAProxyAlone) {
  EndJail();
  sandbox_.proxies.emplace();
  StartJail();
  const OwnedFd proxy(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  auto* const generic = reinterpret_cast<sockaddr*>(&address);
  ASSERT_EQ(::bind(proxy.get(), generic, size), 0);
  ASSERT_EQ(::listen(proxy.get(), 5), 0);
  ASSERT_EQ(::getsockname(proxy.get(), generic, &size), 0);
  const uint16_t port = ntohs(address.sin_port);
  RunCommand entry = EntryFor({"/bin/bash", "-c",
                               "port=${HTTP_PROXY##*:}; exec 3<>/dev/tcp/127.0.0.1/$port; echo hello >&3; cat <&3; "
                               "(echo > /dev/tcp/127.0.0.1/$OUTSIDE) 2>/dev/null || echo alone"});
  entry.environment.push_back(fmt::format("HTTP_PROXY=http://127.0.0.1:{}", port));
  entry.environment.push_back(fmt::format("OUTSIDE={}", port));
  entry.proxies = ProxyRoutes{.endpoints = {{.host = LoopbackHost::kIpv4, .port = port}},
                              .variables = {{"HTTP_PROXY", "http://", "", 0}}};
  Launched launched = Request(entry, -1);
  const OwnedFd connection(::accept4(proxy.get(), nullptr, nullptr, SOCK_CLOEXEC));
  char text[6];
  EXPECT_EQ(sys::Read(connection.get(), text, sizeof text), 6);
  EXPECT_TRUE(sys::SendAll(connection.get(), "world\n"));
  ::shutdown(connection.get(), SHUT_RDWR);
  const Finished finished = Finish(std::move(launched));
  EXPECT_EQ(finished.out, "world\nalone\n") << finished.err << finished.report;
  EXPECT_EQ(Start("true").Next(), std::nullopt) << "a command without proxies would have a network";
}

TEST_P(JailProcessTest, RunsTwoHundredCommandsInARow) {
  for (int i = 0; i < 200; ++i) ASSERT_EQ(Run(fmt::format("echo {}", i)).out, fmt::format("{}\n", i));
  EXPECT_LE(support::CountFds(jail()), 40u);
}

TEST_P(JailProcessTest, RunsFiftyCommandsAtOnce) {
  std::vector<Launched> all;
  for (int i = 0; i < 50; ++i)
    all.push_back(Start(fmt::format("echo {} up; until [ -e end ]; do sleep 0.02; done; exit {}", i, i)));
  for (int i = 0; i < 50; ++i) all[static_cast<size_t>(i)].AwaitOutput(fmt::format("{} up\n", i));
  workspace_.Write("end", "");
  for (int i = 0; i < 50; ++i) EXPECT_EQ(all[static_cast<size_t>(i)].AwaitExit(), i << 8);
}

}  // namespace
}  // namespace holdfast::sandbox
