// Tests of process/start with a sandbox: the command is restricted by it, and is otherwise a process like any other.
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "integration/sandboxed_fixture.h"
#include "sandbox/proxy/proxy_fixture.h"
#include "support/eventually.h"
#include "support/proc.h"
#include "support/restricted_child.h"

namespace holdfast::support {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

class SandboxedProcessTest : public SandboxedFixture {};

TEST_F(SandboxedProcessTest, IsHeldToItsPolicy) {
  const std::string script = "echo in > made && cat made; echo out > " + Elsewhere("made");
  const Message answer = client_.Call("process/start", Inside("p", script).Params());
  EXPECT_EQ(answer.Text("result.sandboxType"), "linuxSeccomp");
  EXPECT_THAT(client_.WaitForClosed("p"), AllOf(HasSubstr("in\n"), HasSubstr("Read-only file system")));
  EXPECT_FALSE(fs::exists(Elsewhere("made")));
  EXPECT_EQ(Contents(In("made")), "in\n");
  EXPECT_EQ(Run(Shell("outside", "echo out > " + Elsewhere("made"))).exit_code, 0);
}

// The client learns that there is a sandbox, and not how the server builds it.
TEST_F(SandboxedProcessTest, HasTheSameAnswerWhateverEnforcesItsPolicy) {
  for (const char* backend : {"native", "bubblewrap"}) {
    const ServerProcess server = ServerProcess::Start({"--sandbox-backend", backend});
    for (const char* more : {"", R"(,"useLegacyLandlock":true)"}) {
      RpcClient client = RpcClient::Ready(server.url());
      const Message answer = client.Call("process/start", InSandbox(Shell("p", "exit 3"), ReadOnly(), more).Params());
      EXPECT_THAT(answer.text(), testing::EndsWith(R"("result":{"processId":"p","sandboxType":"linuxSeccomp"}})"))
          << backend << more;
      EXPECT_EQ(client.WaitForExit("p"), 3) << backend << more;
    }
  }
}

TEST_F(SandboxedProcessTest, KeepsItsExitCode) {
  EXPECT_EQ(Run(Inside("own", "exit 42")).exit_code, 42);
  EXPECT_EQ(Run(Inside("signal", "kill -USR1 $$")).exit_code, 128 + SIGUSR1);
  EXPECT_EQ(Run(Inside("kill", "kill -9 $$")).exit_code, 128 + SIGKILL);
}

TEST_F(SandboxedProcessTest, KeepsItsStreamsApart) {
  Run(Inside("p", "echo out; echo err >&2"));
  EXPECT_EQ(client_.Output("p", "stdout"), "out\n");
  EXPECT_EQ(client_.Output("p", "stderr"), "err\n");
}

TEST_F(SandboxedProcessTest, TakesInput) {
  StartRequest request = Inside("p", "cat; echo end");
  request.pipe_stdin = true;
  client_.Start(request);
  client_.Write("p", "one\n");
  client_.WaitForOutput("p", "one\n");
  client_.Write("p", "two\n");
  client_.CloseStdin("p");
  EXPECT_EQ(client_.WaitForClosed("p"), "one\ntwo\nend\n");
  EXPECT_EQ(Run(Inside("null", "cat; echo end")).output, "end\n");
}

TEST_F(SandboxedProcessTest, GetsExactlyItsEnvironment) {
  StartRequest request =
      InSandbox({.id = "p", .argv = {"/usr/bin/env"}, .more = R"("env":{"B":"2","A":"x y"})"}, WorkspaceWrite());
  EXPECT_THAT(Run(request).output, testing::AnyOf("B=2\nA=x y\n", "A=x y\nB=2\n"));
}

TEST_F(SandboxedProcessTest, GetsTheNameItIsTold) {
  StartRequest request = InSandbox({.id = "p", .argv = {"/bin/bash", "-c", "echo $0"}}, WorkspaceWrite());
  request.more += R"(,"arg0":"other")";
  EXPECT_EQ(Run(request).output, "other\n");
}

// The command has the same user id inside as outside, also if that is root.
TEST_F(SandboxedProcessTest, IsTheSameUserInTheSameDirectory) {
  EXPECT_EQ(Run(Inside("p", "id -u; pwd -P")).output,
            fmt::format("{}\n{}\n", ::geteuid(), fs::canonical(workspace_.path()).string()));
}

TEST_F(SandboxedProcessTest, HasNoDescriptorsButItsStreams) {
  EXPECT_EQ(Run(Inside("p", "for n in 3 4 5 6 7 8 9 10; do [ -e /proc/self/fd/$n ] && echo $n; done; :")).output, "");
}

TEST_F(SandboxedProcessTest, RunsAPreparedCommandWithoutALookUp) {
  workspace_.Write("tool", "#!/bin/sh\necho prepared $0 $1\n", 0755);
  const std::string prepared = fmt::format(
      R"({{"processId":"p","tty":false,"prepared":{{"program":"tool","argv":["zero","one"],"env":{{"PATH":"/bin"}},"cwd":{}}},{}}})",
      Quoted(workspace_.path()), Sandbox(WorkspaceWrite()));
  const Message answer = client_.Call("process/start", prepared);
  ASSERT_TRUE(answer.Has("result")) << answer;
  EXPECT_EQ(client_.WaitForClosed("p"), "prepared ./tool one\n");
}

TEST_F(SandboxedProcessTest, AnswersReadsAndWaits) {
  client_.Start(Inside("p", "echo out; exit 5"));
  EXPECT_EQ(client_.Call("process/wait", IdParams("p", R"("timeoutMs":60000)")).Number("result.exitCode"), 5);
  client_.WaitForClosed("p");
  const Message read = client_.Call("process/read", IdParams("p"));
  EXPECT_EQ(read.Bytes("result.chunks.0.chunk"), "out\n");
  EXPECT_TRUE(read.Flag("result.closed"));
}

// process/list shows the client's own command, and not that of the helper.
TEST_F(SandboxedProcessTest, IsListedAsTheClientKnowsIt) {
  client_.Start(Inside("p", "sleep 1000"));
  const Message list = client_.Call("process/list");
  EXPECT_EQ(list.Text("result.processes.0.argv.0"), "sh");
  EXPECT_EQ(list.Text("result.processes.0.state"), "running");
}

// Between the start of the helper and that of the command, nothing of the client's runs yet.
TEST_F(SandboxedProcessTest, IsListedAsStartingUntilTheStartIsAnswered) {
  const int64_t start = client_.Send("process/start", Inside("p", "sleep 1000").Params());
  size_t looks = 0;
  for (;; ++looks) {
    const Message list = client_.Call("process/list");
    if (client_.HasAnswer(start)) break;
    EXPECT_EQ(list.Text("result.processes.0.state"), "starting");
    EXPECT_TRUE(list.IsNull("result.processes.0.pid")) << list;
  }
  EXPECT_GT(looks, 3u);
  const Message list = client_.Call("process/list");
  EXPECT_EQ(list.Text("result.processes.0.state"), "running");
  EXPECT_GT(list.Number("result.processes.0.pid"), 0);
}

class SandboxedTerminalTest : public SandboxedFixture {
 protected:
  void StartOnTerminal(const std::string& script) {
    StartRequest request = Inside("t", script);
    request.tty = true;
    client_.Start(request);
  }
  // Returns what the terminal shows from here on, up to `text`.
  std::string Await(std::string_view text) {
    std::string shown;
    while (!(shown = client_.Output("t").substr(seen_)).contains(text)) {
      if (!client_.Pump(kPatience)) {
        ADD_FAILURE() << "no " << text << " in: " << shown;
        break;
      }
    }
    seen_ += std::min(shown.size(), shown.find(text) + text.size());
    return shown;
  }

 private:
  size_t seen_ = 0;
};

TEST_F(SandboxedTerminalTest, AShellHasJobControl) {
  StartOnTerminal("PS1='ready> ' exec bash --norc --noprofile -i");
  EXPECT_THAT(Await("ready> "), Not(HasSubstr("no job control")));
  client_.Write("t", "sh -c 'echo u\"\"p; exec sleep 1000'\n");
  Await("up\r\n");
  client_.Write("t", "\x03");
  Await("ready> ");
  client_.Write("t", "echo status=$?; sh -c 'echo u\"\"p; exec cat'\n");
  EXPECT_THAT(Await("up\r\n"), HasSubstr("status=130"));
  client_.Write("t", "\x1a");
  Await("Stopped");
  Await("ready> ");
  client_.Write("t", "fg\n");
  Await("exec cat'\r\n");
  client_.Write("t", "again\n");
  Await("again\r\nagain\r\n");
  client_.Write("t", "\x04");
  Await("ready> ");
  client_.Write("t", "exit 6\n");
  EXPECT_EQ(client_.WaitForExit("t"), 6);
}

TEST_F(SandboxedTerminalTest, SeesItsSizeAndTheNext) {
  StartOnTerminal("trap 'stty size; exit 5' WINCH; stty size; echo u\"\"p; while :; do sleep 0.01; done");
  EXPECT_THAT(Await("up\r\n"), HasSubstr("24 80\r\n"));
  EXPECT_FALSE(client_.Call("process/resize", IdParams("t", R"("rows":33,"cols":77)")).Has("error"));
  Await("33 77\r\n");
  EXPECT_EQ(client_.WaitForExit("t"), 5);
}

TEST_F(SandboxedTerminalTest, CtrlCReachesThePlainCommand) {
  StartOnTerminal("trap 'echo caught; exit 9' INT; echo u\"\"p; while :; do sleep 0.01; done");
  Await("up\r\n");
  client_.Write("t", "\x03");
  EXPECT_EQ(client_.WaitForExit("t"), 9);
}

TEST_F(SandboxedTerminalTest, IsHeldToItsPolicyToo) {
  StartOnTerminal("echo no > " + Elsewhere("made"));
  EXPECT_NE(client_.WaitForExit("t"), 0);
  EXPECT_FALSE(fs::exists(Elsewhere("made")));
}

class SandboxedEndTest : public SandboxedFixture {
 protected:
  Message Terminate(std::string_view id, std::string_view more = "") {
    return client_.Call("process/terminate", IdParams(id, more));
  }
  void Signal(std::string_view id, std::string_view name) {
    EXPECT_FALSE(client_.Call("process/signal", IdParams(id, R"("signal":)" + Quoted(name))).Has("error"));
  }
  void StartReady(const std::string& script) {
    client_.Start(Inside("p", script));
    client_.WaitForOutput("p", "ready\n");
  }
  // Returns every process that the tests have started, except for the server itself.
  static std::vector<pid_t> Alive() { return LivingWithVariable(RunMarker()); }
};

TEST_F(SandboxedEndTest, IsKilledWithEverythingItStarted) {
  StartReady("setsid sh -c 'sleep 1000 & sleep 1000' & (setsid sleep 1000 &); echo ready; sleep 1000");
  EXPECT_TRUE(Terminate("p").Flag("result.running"));
  EXPECT_THAT(Alive(), IsEmpty());
  EXPECT_EQ(client_.WaitForExit("p"), 137);
  EXPECT_TRUE(Eventually([&] { return NamesIn(workspace_.path()).empty(); }));
}

TEST_F(SandboxedEndTest, RunsItsTrapWhenAskedToEnd) {
  StartReady("trap 'echo bye; exit 4' TERM; echo ready; while :; do sleep 0.01; done");
  EXPECT_TRUE(Terminate("p", R"("mode":{"graceful":{"timeoutMs":60000}})").Flag("result.running"));
  EXPECT_EQ(client_.WaitForExit("p"), 4);
  EXPECT_THAT(client_.Output("p"), HasSubstr("bye\n"));
}

TEST_F(SandboxedEndTest, IsKilledWhenItDoesNotEnd) {
  StartReady("trap '' TERM; echo ready; while :; do sleep 0.01; done");
  EXPECT_TRUE(Terminate("p", R"("mode":{"graceful":{"timeoutMs":200}})").Flag("result.running"));
  EXPECT_EQ(client_.WaitForExit("p"), 137);
  EXPECT_THAT(Alive(), IsEmpty());
}

TEST_F(SandboxedEndTest, GetsSignals) {
  StartReady("trap 'echo usr1' USR1; trap 'echo int; exit 8' INT; echo ready; while :; do sleep 0.01; done");
  Signal("p", "SIGUSR1");
  client_.WaitForOutput("p", "usr1\n");
  Signal("p", "interrupt");
  EXPECT_EQ(client_.WaitForExit("p"), 8);
}

TEST_F(SandboxedEndTest, DiesOfASignalItDoesNotCatch) {
  StartReady("echo ready; exec sleep 1000");
  Signal("p", "SIGINT");
  EXPECT_EQ(client_.WaitForExit("p"), 128 + SIGINT);
}

TEST_F(SandboxedEndTest, LeavesNoDaemon) {
  Run(Inside("p", "(setsid sh -c 'trap \"\" HUP TERM; sleep 1000' >/dev/null 2>&1 &) ; exit 0"));
  EXPECT_TRUE(Eventually([] { return Alive().empty(); }));
  EXPECT_FALSE(Terminate("p").Flag("result.running"));
}

TEST_F(SandboxedEndTest, LeavesNoMountPointOfAMissingName) {
  StartReady("mkdir .git 2>&1; echo ready; sleep 1000");
  EXPECT_THAT(NamesIn(workspace_.path()), testing::Contains(".git")) << "the sandbox keeps the name";
  Terminate("p");
  EXPECT_TRUE(Eventually([&] { return NamesIn(workspace_.path()).empty(); }))
      << testing::PrintToString(NamesIn(workspace_.path()));
  EXPECT_THAT(Mounts(), Not(HasSubstr(workspace_.path())));
}

class SandboxedProfilesTest : public SandboxedFixture {
 protected:
  const std::string script_ = "echo made > " + Elsewhere("made");
};

TEST_F(SandboxedProfilesTest, ADisabledOneRestrictsNothing) {
  const StartRequest request = InSandbox(Shell("p", script_), R"({"type":"disabled"})");
  const Message answer = client_.Call("process/start", request.Params());
  EXPECT_EQ(answer.Text("result.sandboxType"), "linuxSeccomp");
  EXPECT_EQ(client_.WaitForExit("p"), 0);
}

TEST_F(SandboxedProfilesTest, AnExternalOrUnrestrictedOneLeavesFilesAlone) {
  EXPECT_EQ(Run(InSandbox(Shell("e", script_), R"({"type":"external","network":"restricted"})")).exit_code, 0);
  const std::string unrestricted = R"({"type":"managed","file_system":{"type":"unrestricted"},"network":"restricted"})";
  EXPECT_EQ(Run(InSandbox(Shell("u", script_), unrestricted)).exit_code, 0);
}

TEST_F(SandboxedProfilesTest, TheNetworkIsAMatterOfItsOwn) {
  sandbox::TestListener listener;
  listener.Listen();
  const std::string connect = fmt::format("exec 3<>/dev/tcp/127.0.0.1/{}", listener.port());
  const auto exit_code = [&](const std::string& id, const std::string& permissions) {
    return Run(InSandbox({.id = id, .argv = {"bash", "-c", connect}}, permissions)).exit_code;
  };
  EXPECT_NE(exit_code("restricted", WorkspaceWrite()), 0);
  EXPECT_EQ(exit_code("enabled", WorkspaceWrite("enabled")), 0);
  EXPECT_NE(exit_code("external", R"({"type":"external","network":"restricted"})"), 0);
  EXPECT_EQ(exit_code("external enabled", R"({"type":"external","network":"enabled"})"), 0);
}

TEST_F(SandboxedProfilesTest, OlderPoliciesMeanTheSame) {
  const auto with = [&](const std::string& id, std::string_view policy, const std::string& script) {
    StartRequest request = Shell(id, script);
    request.cwd = workspace_.path();
    request.more = fmt::format(R"("sandbox":{})", policy);
    return Run(request).exit_code;
  };
  EXPECT_NE(with("a", R"({"type":"read-only"})", "echo x > made"), 0);
  EXPECT_EQ(with("b", R"({"sandboxPolicy":{"type":"workspace-write"}})", "echo x > made"), 0);
  EXPECT_EQ(with("c", R"({"type":"danger-full-access"})", script_), 0);
}

TEST_F(SandboxedProfilesTest, EveryWorkspaceRootIsTheProject) {
  const std::string roots = fmt::format(R"(,"cwd":{},"workspaceRoots":[{},{}])", Quoted(workspace_.path()),
                                        Quoted(workspace_.path()), Quoted("file://" + elsewhere_.path()));
  EXPECT_EQ(Run(InSandbox(Shell("both", script_), WorkspaceWrite(), roots)).exit_code, 0);
  const std::string none = fmt::format(R"(,"cwd":{},"workspaceRoots":[])", Quoted(workspace_.path()));
  EXPECT_NE(Run(InSandbox(Shell("none", "echo x > made"), WorkspaceWrite(), none)).exit_code, 0);
}

TEST_F(SandboxedProfilesTest, LegacyLandlockTakesReadOnlyAndRefusesMore) {
  const std::string_view legacy = R"(,"useLegacyLandlock":true)";
  const Ended ended = Run(InSandbox(Shell("p", "cat /etc/hostname >/dev/null && echo x > made"), ReadOnly(), legacy));
  EXPECT_NE(ended.exit_code, 0);
  EXPECT_TRUE(ended.denied) << ended.output;
  const std::string reason = ReasonOf(InSandbox(Shell("q", "true"), WorkspaceWrite(), legacy));
  EXPECT_THAT(reason, testing::ContainsRegex("[Ll]andlock")) << reason;
}

class SandboxedNetworkTest : public SandboxedFixture {
 protected:
  StartRequest Managed(const std::string& id, const std::string& script, const std::string& variables) const {
    StartRequest request{.id = id, .argv = {"/bin/bash", "-c", script}};
    request.more = fmt::format(R"("enforceManagedNetwork":true,"env":{{"PATH":"/usr/bin:/bin"{}}})", variables);
    return InSandbox(request, WorkspaceWrite());
  }
};

TEST_F(SandboxedNetworkTest, WithoutAProxyNothingIsStarted) {
  const std::string reason = ReasonOf(Managed("p", "touch made", ""));
  EXPECT_THAT(reason, HasSubstr("proxy")) << reason;
  EXPECT_FALSE(fs::exists(In("made")));
  EXPECT_EQ(Run(Inside("p", "true")).exit_code, 0) << "the id is free";
}

TEST_F(SandboxedNetworkTest, AProxyThatIsElsewhereIsNone) {
  EXPECT_THAT(ReasonOf(Managed("p", "true", R"(,"HTTP_PROXY":"http://10.1.2.3:8080")")), HasSubstr("proxy"));
}

TEST_F(SandboxedNetworkTest, TheProxyIsReachedAndNothingElse) {
  sandbox::TestListener proxy, other;
  proxy.Listen();
  other.Listen();
  const std::string script = fmt::format(
      "exec 4<>/dev/tcp/127.0.0.1/{} && exit 99; at=${{HTTP_PROXY#http://}}; at=${{at%/}}; exec "
      "3<>/dev/tcp/${{at/:/\\/}}; "
      "echo hello >&3; read -r answer <&3; echo \"$answer\"",
      other.port());
  client_.Start(Managed("p", script, fmt::format(R"(,"HTTP_PROXY":"http://127.0.0.1:{}")", proxy.port())));
  TestSocket peer = proxy.Accept();
  EXPECT_EQ(peer.ReceiveSome(), "hello\n");
  EXPECT_TRUE(peer.Send("answer\n"));
  EXPECT_THAT(client_.WaitForClosed("p"), HasSubstr("answer\n"));
}

TEST_F(SandboxedNetworkTest, AProxyWithoutASandboxIsRefused) {
  StartRequest request = Shell("p", "true");
  request.more = R"("enforceManagedNetwork":true)";
  EXPECT_EQ(Refusal(request).error_code(), -32602);
}

class SandboxedStartFailureTest : public SandboxedFixture {
 protected:
  // Expects that the start is refused with -32603 and that the id is free then. Returns the reason.
  std::string FailureOf(const StartRequest& request) {
    const Message answer = Refusal(request);
    EXPECT_EQ(answer.error_code(), -32603) << answer;
    EXPECT_EQ(Run(Inside(request.id, "true")).exit_code, 0);
    return answer.Text("error.message");
  }
};

TEST_F(SandboxedStartFailureTest, NamesAMissingProgram) {
  for (const char* program : {"no-such-program", "/no/such/program"}) {
    const std::string reason = FailureOf(InSandbox({.id = program, .argv = {program}}, WorkspaceWrite()));
    EXPECT_THAT(reason, AllOf(HasSubstr(program), HasSubstr("No such file or directory"))) << reason;
  }
  const std::string file = workspace_.Write("plain", "text", 0644);
  EXPECT_THAT(FailureOf(InSandbox({.id = "plain", .argv = {file}}, WorkspaceWrite())), HasSubstr("Permission denied"));
}

TEST_F(SandboxedStartFailureTest, NamesAMissingDirectory) {
  for (const bool tty : {false, true}) {
    StartRequest request = Inside("p" + std::to_string(tty), "true");
    request.tty = tty;
    request.cwd = "/no/such/directory";
    const std::string reason = FailureOf(request);
    EXPECT_THAT(reason, AllOf(HasSubstr("/no/such/directory"), HasSubstr("No such file or directory"))) << reason;
  }
}

// A program that the command may not read cannot be executed either.
TEST_F(SandboxedStartFailureTest, NamesAProgramThatThePolicyHides) {
  const std::string program = elsewhere_.Write("tool", "#!/bin/sh\necho ran\n", 0755);
  EXPECT_EQ(Run({.id = "outside", .argv = {program}}).output, "ran\n");
  const std::string hidden = Managed(PlaceEntry("root", "read") + "," + PathEntry(elsewhere_.path(), "deny"));
  EXPECT_THAT(FailureOf(InSandbox({.id = "p", .argv = {program}}, hidden)), HasSubstr("Permission denied"));
}

// The sandbox cannot know which files such a pattern is meant to deny.
TEST_F(SandboxedStartFailureTest, DoesNotRunUnderAPatternThatCannotBeExpanded) {
  const std::string pattern = R"({"path":{"type":"glob_pattern","pattern":"**/{unclosed"},"access":"deny"})";
  const StartRequest request =
      InSandbox(Shell("p", "touch ran"),
                Managed(PlaceEntry("root", "read") + "," + PlaceEntry("project_roots", "write") + "," + pattern));
  const std::string reason = FailureOf(request);
  EXPECT_THAT(reason, HasSubstr("unclosed")) << reason;
  EXPECT_FALSE(fs::exists(In("ran")));
}

TEST_F(SandboxedStartFailureTest, RefusesWhatItDoesNotUnderstand) {
  for (const char* permissions :
       {R"({"type":"later"})", R"({"type":"managed","file_system":{"type":"restricted"},"network":"restricted"})"}) {
    EXPECT_EQ(Refusal(InSandbox(Shell("p", "true"), permissions)).error_code(), -32602);
  }
}

// The command's PATH leads to a program named bwrap that would run the command without a sandbox.
TEST_F(SandboxedStartFailureTest, DoesNotTakeBubblewrapFromTheCommandsPath) {
  const std::string witness = Elsewhere("witness");
  elsewhere_.Write("bwrap", "#!/bin/sh\n: >" + witness + "\nexit 0\n", 0755);
  StartRequest request =
      InSandbox({.id = "p", .argv = {"/bin/sh", "-c", "echo x > " + Elsewhere("made")}}, WorkspaceWrite());
  request.more += fmt::format(R"(,"env":{{"PATH":"{}:/usr/bin:/bin"}})", elsewhere_.path());
  EXPECT_TRUE(Run(request).denied);
  EXPECT_FALSE(fs::exists(witness));
}

// This server has no bubblewrap on PATH, and none beside it, and the native backend gets no namespaces.
TEST_F(SandboxedStartFailureTest, DoesNotRunWithoutABackend) {
  ScratchDir programs;
  const char* other = std::getenv("HOLDFAST_BINARY");
  const fs::path folder = fs::path(other != nullptr ? other : HOLDFAST_BINARY).parent_path();
  for (const char* name : {"holdfast", "holdfast-linux-sandbox"}) fs::copy(folder / name, programs.path());
  const std::string marker = RunMarker();
  const auto fork_without_namespaces = [] {
    const pid_t child = ::fork();
    if (child == 0 && !(EnterOwnNamespaces() && SetNamespaceLimit("max_mnt_namespaces", "0"))) ::_exit(99);
    return child;
  };
  Program server({"/usr/bin/env", "PATH=/nonexistent", marker, programs.path() + "/holdfast", "exec-server", "--listen",
                  "unix://" + programs.path() + "/socket"},
                 -1, fork_without_namespaces);
  server.AwaitOutput("unix://");
  RpcClient client(OpenChannel("unix://" + programs.path() + "/socket"));
  client.Handshake();
  const Message answer = client.Call("process/start", Inside("p", "touch ran").Params());
  EXPECT_EQ(answer.error_code(), -32603) << answer;
  EXPECT_THAT(answer.Text("error.message"), AllOf(HasSubstr("no bubblewrap"), HasSubstr("user.max_mnt_namespaces")));
  EXPECT_FALSE(fs::exists(In("ran")));
  client.Start(Shell("p", "echo free"));
  EXPECT_EQ(client.WaitForClosed("p"), "free\n");
  server.Signal(SIGTERM);
}

}  // namespace
}  // namespace holdfast::support
