// The server must not be a way out of the sandbox: a command that could talk to the server which has started it would
// have it start another one without a sandbox. Each act is tried outside, where it works, and inside.
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "integration/sandboxed_fixture.h"
#include "support/eventually.h"
#include "support/proc.h"

namespace holdfast::support {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::Not;
using Strings = std::vector<std::string>;

constexpr int64_t kDone = 0, kRefused = 1;  // of an act

std::string ActPath(std::string_view name) { return fmt::format("{}/{}", HOLDFAST_SANDBOXEE_DIR, name); }

std::string PortOf(const std::string& url) {
  const std::string rest = url.substr(url.rfind(':') + 1);
  return rest.substr(0, rest.find('/'));
}

// The tests run as root and as an ordinary user, with a server of that user.
class SandboxServerTest : public testing::TestWithParam<SandboxCase> {
 protected:
  void SetUp() override {
    if (const std::string reason = workspace_.WhyNot(); !reason.empty()) GTEST_SKIP() << reason;
  }

  void Serve(const Strings& flags, const Strings& env = {}) {
    const uid_t user = GetParam().user;
    server_.emplace(ServerProcess::Start(
        {.flags = flags, .env = env, .user = user != ::geteuid() ? std::optional(user) : std::nullopt}));
    client_.emplace(RpcClient::Ready(server_->url()));
  }

  struct Ended {
    int64_t exit_code;
    std::string output;
  };
  Ended Run(StartRequest request) {
    request.id = fmt::format("{}{}", request.id, ++runs_);
    request.cwd = workspace_.path();
    client_->Start(request);
    const Message exited = client_->WaitForNotification("process/exited", request.id);
    return {exited.Number("params.exitCode"), client_->WaitForClosed(request.id)};
  }
  Ended Outside(const Strings& argv) { return Run({.id = "outside", .argv = argv}); }
  Ended Inside(const Strings& argv) { return Run(Sandboxed(argv)); }

  // Returns the start of a command that may read everything, write the workspace, and use the network.
  StartRequest Sandboxed(const Strings& argv, const Strings& more_entries = {}) const {
    std::string entries = PlaceEntry("root", "read") + "," + PathEntry(workspace_.path(), "write");
    for (const std::string& entry : more_entries) entries += "," + entry;
    return {.id = "inside", .argv = argv, .cwd = workspace_.path(), .more = Sandbox(Managed(entries, "enabled"))};
  }

  SandboxWorkspace workspace_{GetParam()};
  std::optional<ServerProcess> server_;
  std::optional<RpcClient> client_;
  int runs_ = 0;
};

INSTANTIATE_TEST_SUITE_P(, SandboxServerTest, testing::ValuesIn(UsersWith({Means::kSystemBubblewrap})), CaseName);

// Every process can read the port in /proc/net/tcp. If a client needs nothing but the port, the kernel keeps the
// command from connecting to it.
TEST_P(SandboxServerTest, ACommandWithANetworkCannotReachAnOpenPort) {
  Serve({"--ws-auth", "none"});
  const std::string port = PortOf(server_->url());
  EXPECT_EQ(Outside({ActPath("ask_server"), port, "tcp"}).exit_code, kDone);
  EXPECT_EQ(Outside({ActPath("ask_server"), port, "fast-open"}).exit_code, kDone);
  for (const char* way : {"tcp", "mptcp", "fast-open", "on-top"}) {
    const Ended ended = Inside({ActPath("ask_server"), port, way});
    EXPECT_EQ(ended.exit_code, kRefused) << way << ": " << ended.output;
  }
}

TEST_P(SandboxServerTest, ACommandWithANetworkReachesOtherPorts) {
  Serve({"--ws-auth", "none"});
  ServerProcess other = ServerProcess::Start({"--insecure-no-auth"});
  EXPECT_EQ(Inside({ActPath("ask_server"), PortOf(other.url()), "tcp"}).exit_code, kDone);
}

TEST_P(SandboxServerTest, AnOpenPortStaysOpenWhereTheOperatorSaysSo) {
  Serve({"--insecure-no-auth"});
  EXPECT_EQ(Inside({ActPath("ask_server"), PortOf(server_->url()), "tcp"}).exit_code, kDone);
}

// The command can connect to a port whose URL has a secret, but the server does not serve it.
TEST_P(SandboxServerTest, ACommandThatKnowsThePortDoesNotKnowTheSecret) {
  Serve({});
  EXPECT_EQ(Inside({ActPath("ask_server"), PortOf(server_->url()), "tcp"}).exit_code, kRefused);
}

// A client that has the URL in its environment may pass its environment on to the command.
TEST_P(SandboxServerTest, ACommandIsNotToldTheSecret) {
  Serve({});
  StartRequest request = Sandboxed({"/usr/bin/env"});
  request.more += fmt::format(R"(,"env":{{"SERVER_URL":"{}","OTHER":"1"}})", server_->url());
  const std::string variables = Run(request).output;
  EXPECT_THAT(variables, HasSubstr("OTHER=1"));
  EXPECT_THAT(variables, Not(HasSubstr("SERVER_URL")));
}

// The bridge, a process outside, connects to a proxy, and the kernel keeps it from no port.
TEST_P(SandboxServerTest, TheServerIsNoProxyOfItsCommands) {
  Serve({"--ws-auth", "none"});
  StartRequest request = Sandboxed({"/bin/true"});
  request.more += fmt::format(R"(,"enforceManagedNetwork":true,"env":{{"HTTP_PROXY":"http://127.0.0.1:{}"}})",
                              PortOf(server_->url()));
  const Message answer = client_->Call("process/start", request.Params());
  EXPECT_THAT(answer.Text("error.message"), HasSubstr("is the server that starts this command"));
}

class SandboxServerSocketTest : public SandboxServerTest {
 protected:
  // The path of the socket is in a directory that the command may write.
  std::string Path() const { return workspace_.path() + "/server.sock"; }
  void ServeOnSocket() { Serve({"--listen", "unix://" + Path()}); }
};

INSTANTIATE_TEST_SUITE_P(, SandboxServerSocketTest, testing::ValuesIn(UsersWith({Means::kSystemBubblewrap})), CaseName);

TEST_P(SandboxServerSocketTest, ACommandWithANetworkCannotConnect) {
  ServeOnSocket();
  EXPECT_EQ(Outside({ActPath("ask_socket"), Path()}).exit_code, kDone);
  EXPECT_EQ(Inside({ActPath("ask_socket"), Path()}).exit_code, kRefused);
}

// Otherwise the next client would talk to the command, and tell it what to run.
TEST_P(SandboxServerSocketTest, ACommandCannotPutItsOwnSocketInThePlace) {
  ServeOnSocket();
  for (const std::string& script : {"rm -f server.sock", "mv server.sock away", "ln -f /dev/null server.sock",
                                    "echo x > other && mv -f other server.sock", "mv . ../moved"}) {
    EXPECT_NE(Inside({"/bin/sh", "-c", script}).exit_code, 0) << script;
  }
  EXPECT_TRUE(fs::is_socket(Path()));
  EXPECT_EQ(Outside({ActPath("ask_socket"), Path()}).exit_code, kDone);
}

TEST_P(SandboxServerSocketTest, FileRequestsInASandboxDoNotReachTheSocket) {
  ServeOnSocket();
  const std::string sandbox = Sandbox(Managed(PlaceEntry("root", "read") + "," + PathEntry(workspace_.path(), "write")),
                                      fmt::format(R"(,"cwd":"file://{}")", workspace_.path()));
  const std::string remove = fmt::format(R"({{"path":"file://{}","force":true,{}}})", Path(), sandbox);
  EXPECT_TRUE(client_->Call("fs/remove", remove).Has("error"));
  EXPECT_TRUE(fs::is_socket(Path()));
}

// However a sandboxed process reaches the socket, the server recognizes it by its pid namespace, and closes the
// connection.
TEST_P(SandboxServerSocketTest, ThePeerOfANamespaceBelowIsNotServed) {
  ServeOnSocket();
  EXPECT_EQ(Outside({ActPath("ask_socket"), Path()}).exit_code, kDone);
  EXPECT_EQ(Outside({"/usr/bin/unshare", "--user", "--pid", "--fork", ActPath("ask_socket"), Path()}).exit_code,
            kRefused);
}

class SandboxUrlFileTest : public SandboxServerTest {
 protected:
  // The file is in a directory that the command may write, and the command has a network.
  std::string Path() const { return workspace_.path() + "/url.txt"; }
  void ServeWithUrlFile(const Strings& more_flags = {}) {
    const uid_t user = GetParam().user;
    server_.emplace(ServerProcess::StartWithUrlFile(
        Path(), {.flags = more_flags, .user = user != ::geteuid() ? std::optional(user) : std::nullopt}));
    client_.emplace(RpcClient::Ready(server_->url()));
  }
};

INSTANTIATE_TEST_SUITE_P(, SandboxUrlFileTest, testing::ValuesIn(UsersWith({Means::kSystemBubblewrap})), CaseName);

// Whoever knows the URL can have the server start a command without a sandbox.
TEST_P(SandboxUrlFileTest, ACommandCannotReadTheUrl) {
  for (const char* backend : {"native", "bubblewrap"}) {
    ServeWithUrlFile({"--sandbox-backend", backend});
    EXPECT_EQ(Outside({"/bin/cat", Path()}).output, server_->url() + "\n");
    const Ended inside = Inside({"/bin/sh", "-c", "cat url.txt || cp url.txt copy || ln url.txt name && cat name"});
    EXPECT_NE(inside.exit_code, 0) << backend;
    EXPECT_THAT(inside.output, Not(HasSubstr("ws://"))) << backend;
    server_->Stop();
  }
}

// Otherwise the next client would talk to a server of the command.
TEST_P(SandboxUrlFileTest, ACommandCannotPutAnotherUrlInThePlace) {
  ServeWithUrlFile();
  for (const std::string& script : {"echo x > url.txt", "rm -f url.txt", "mv url.txt away", "ln -f /dev/null url.txt",
                                    "echo x > other && mv -f other url.txt", "mv . ../moved"}) {
    EXPECT_NE(Inside({"/bin/sh", "-c", script}).exit_code, 0) << script;
  }
  EXPECT_EQ(Contents(Path()), server_->url() + "\n");
}

TEST_P(SandboxUrlFileTest, FileRequestsInASandboxDoNotReachTheFile) {
  ServeWithUrlFile();
  const std::string sandbox = Sandbox(Managed(PlaceEntry("root", "read") + "," + PathEntry(workspace_.path(), "write")),
                                      fmt::format(R"(,"cwd":"file://{}")", workspace_.path()));
  const std::string params = fmt::format(R"({{"path":"file://{}",{}}})", Path(), sandbox);
  EXPECT_TRUE(client_->Call("fs/readFile", params).Has("error"));
  EXPECT_TRUE(client_->Call("fs/remove", params).Has("error"));
  EXPECT_EQ(Contents(Path()), server_->url() + "\n");
}

TEST_P(SandboxUrlFileTest, AServerOnASocketHidesItToo) {
  ServeWithUrlFile({"--listen", "unix://" + workspace_.path() + "/server.sock"});
  EXPECT_NE(Inside({"/bin/sh", "-c", "rm -f url.txt"}).exit_code, 0);
  EXPECT_EQ(Contents(Path()), server_->url() + "\n");
}

class SandboxOwnProgramsTest : public SandboxServerTest {};

INSTANTIATE_TEST_SUITE_P(, SandboxOwnProgramsTest, testing::ValuesIn(UsersWith({Means::kSystemBubblewrap})), CaseName);

// `#!/proc/self/exe` as the first line of a script executes the program of the inner stage again. Were that a file of
// the machine, on a mount that is not the sandbox's, the command could change the mode of the helper through it.
TEST_P(SandboxOwnProgramsTest, NoFileOfTheMachineIsExecutedInside) {
  Serve({});
  const std::string script = workspace_.path() + "/script";
  ASSERT_EQ(workspace_.Outside("printf '#!/proc/self/exe --sandbox-policy-cwd\\n' > script; chmod +x script").status,
            0);
  // The helper waits for its policy on the terminal, so that the test has time to inspect it.
  StartRequest request = Sandboxed({script, "--permission-profile-fd", "1", "--", "true"});
  request.tty = true;
  client_->Start(request);
  const auto programs = [&] {
    Strings found;
    for (const pid_t pid : DescendantsOf(server_->pid())) {
      std::error_code gone;
      const std::string status = ReadProcFile(pid, "status").value_or("");
      const size_t numbers = status.find("NSpid:");
      const bool inside = numbers != std::string::npos &&
                          std::ranges::count(status.substr(numbers, status.find('\n', numbers) - numbers), '\t') > 1;
      if (inside) found.push_back(fs::read_symlink(fmt::format("/proc/{}/exe", pid), gone));
    }
    return found;
  };
  ASSERT_TRUE(Eventually([&] { return programs().size() == 2; })) << testing::PrintToString(programs());
  EXPECT_THAT(programs(), testing::Each(testing::StartsWith("/memfd:holdfast-linux-sandbox")));
  client_->Call("process/terminate", IdParams(request.id));
}

TEST_P(SandboxOwnProgramsTest, TheFirstProcessCannotBeLookedInto) {
  Serve({});
  EXPECT_NE(Inside({"/bin/readlink", "/proc/1/exe"}).exit_code, 0);
  EXPECT_EQ(Inside({"/bin/readlink", "/proc/self/exe"}).exit_code, 0);
}

// The programs of this server lie where a policy lets commands write, as in a checkout of holdfast or in /tmp.
class SandboxInstallationTest : public SandboxServerTest {
 protected:
  void SetUp() override {
    SandboxServerTest::SetUp();
    if (IsSkipped()) return;
    const fs::path built = fs::path(HOLDFAST_BINARY).parent_path();
    for (const char* name : {"holdfast", "holdfast-linux-sandbox"}) fs::copy(built / name, Installed(name));
    fs::copy(built / "holdfast-resources", Installed("holdfast-resources"));
    for (const char* name : {"", "holdfast", "holdfast-linux-sandbox"}) {
      ASSERT_EQ(::chown(Installed(name).c_str(), GetParam().user, GetParam().user), 0);
    }
    ASSERT_EQ(::chmod(programs_.path().c_str(), 0755), 0);
    ::setenv("HOLDFAST_BINARY", Installed("holdfast").c_str(), 1);
  }
  void TearDown() override { ::unsetenv("HOLDFAST_BINARY"); }

  std::string Installed(const std::string& name) const { return programs_.path() + "/" + name; }

  ScratchDir programs_{"/var/tmp"};
};

INSTANTIATE_TEST_SUITE_P(, SandboxInstallationTest, testing::ValuesIn(UsersWith({Means::kSystemBubblewrap})), CaseName);

// Otherwise one command could replace the helper by its own program, and the next start would run it without a sandbox.
TEST_P(SandboxInstallationTest, APolicyThatOpensTheProgramsIsRefused) {
  Serve({});
  for (const std::string& opened : {programs_.path(), Installed("holdfast-linux-sandbox"), std::string("/var/tmp")}) {
    const StartRequest request = Sandboxed({"/bin/true"}, {PathEntry(opened, "write")});
    const Message answer = client_->Call("process/start", request.Params());
    EXPECT_THAT(answer.Text("error.message"), HasSubstr("holdfast's own programs")) << opened;
  }
  EXPECT_EQ(Inside({"/bin/true"}).exit_code, 0);
}

// The server executes the program that it opened at its start, even if the file has been replaced since.
TEST_P(SandboxInstallationTest, AReplacedHelperIsNotExecuted) {
  Serve({});
  const std::string mark = workspace_.path() + "/mark", helper = Installed("holdfast-linux-sandbox");
  fs::remove(helper);
  programs_.Write("holdfast-linux-sandbox", "#!/bin/sh\ntouch " + mark + "\n", 0755);
  fs::remove_all(Installed("holdfast-resources"));
  EXPECT_EQ(Inside({"/bin/sh", "-c", "echo x > /var/tmp/x"}).exit_code, 2);
  EXPECT_EQ(Inside({"/bin/true"}).exit_code, 0);
  EXPECT_FALSE(fs::exists(mark));
}

class SandboxTemporaryDirectoryTest : public SandboxServerTest {
 protected:
  // The policy lets the command write its temporary directory, and nothing else.
  Ended Touch(const std::string& directory) {
    const std::string entries = PlaceEntry("root", "read") + "," + PlaceEntry("tmpdir", "write");
    return Run({.id = "touch",
                .argv = {"/usr/bin/touch", directory + "/made"},
                .more = fmt::format(R"({},"env":{{"TMPDIR":"{}"}})", Sandbox(Managed(entries)), directory)});
  }
};

INSTANTIATE_TEST_SUITE_P(, SandboxTemporaryDirectoryTest, testing::ValuesIn(UsersWith({Means::kSystemBubblewrap})),
                         CaseName);

// TMPDIR=~/.ssh would open the keys. The client chooses the variable, perhaps because a model asked for it.
TEST_P(SandboxTemporaryDirectoryTest, ADirectoryThatIsNotForTemporaryFilesStaysClosed) {
  Serve({});
  const std::string home = fmt::format("/opt/holdfast-test-{}", ::getpid());
  if (!fs::create_directory(home)) GTEST_SKIP() << "/opt cannot be written";
  ASSERT_EQ(::chown(home.c_str(), GetParam().user, GetParam().user), 0);
  EXPECT_NE(Touch(home).exit_code, 0);
  EXPECT_EQ(Outside({"/usr/bin/touch", home + "/made"}).exit_code, 0);
  EXPECT_TRUE(Eventually([&] { return server_->Stderr().contains("sandbox.no_tmpdir"); }));
  fs::remove_all(home);
}

TEST_P(SandboxTemporaryDirectoryTest, TheClientsOwnDirectoryIsOpen) {
  Serve({});
  EXPECT_EQ(Touch(workspace_.tmpdir()).exit_code, 0);
  EXPECT_THAT(server_->Stderr(), Not(HasSubstr("sandbox.no_tmpdir")));
}

}  // namespace
}  // namespace holdfast::support
