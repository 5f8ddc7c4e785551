// Tests of the built sandbox programs: what a command can and cannot do, as this user and, if that is root, also as an
// unprivileged user. Each denial is shown beside the same act outside.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/owned_fd.h"
#include "sandbox/confine/landlock.h"
#include "sandbox/jail/landlock_stage.h"
#include "support/eventually.h"
#include "support/program.h"
#include "support/scratch_dir.h"

namespace holdfast::support {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::StartsWith;
using Strings = std::vector<std::string>;

constexpr uid_t kNobody = 65534;
const std::string kHoldfast = HOLDFAST_BINARY;
const std::string kHelper = fs::path(kHoldfast).replace_filename("holdfast-linux-sandbox");

std::string Entry(std::string_view where, std::string_view access) {
  return fmt::format(R"({{"path":{},"access":"{}"}})", where, access);
}
std::string Path(std::string_view path, std::string_view access) {
  return Entry(fmt::format(R"({{"type":"path","path":"{}"}})", path), access);
}
std::string Special(std::string_view kind, std::string_view access) {
  return Entry(fmt::format(R"({{"type":"special","value":{{"kind":"{}"}}}})", kind), access);
}
// Returns a profile under which everything may be read and the workspace written. /tmp may not be written, because the
// scratch directories are there.
std::string Profile(const Strings& more = {}, std::string_view network = "restricted") {
  std::string entries = Special("root", "read") + "," + Special("project_roots", "write");
  for (const std::string& entry : more) entries += "," + entry;
  return fmt::format(R"({{"type":"managed","file_system":{{"type":"restricted","entries":[{}]}},"network":"{}"}})",
                     entries, network);
}

struct BackendCase {
  uid_t user;
  std::string backend;
};

class SandboxTest : public testing::TestWithParam<BackendCase> {
 protected:
  void SetUp() override {
    if (GetParam().user != ::geteuid()) {
      if (::geteuid() != 0) GTEST_SKIP() << "only root can become another user";
      prefix_ = {"setpriv", "--reuid", std::to_string(kNobody), "--regid", std::to_string(kNobody), "--clear-groups"};
      for (const std::string& path : {workspace_.path(), outside_.path()}) {
        ASSERT_EQ(::chown(path.c_str(), kNobody, kNobody), 0);
      }
      if (RunOutside({"test", "-x", kHelper}).status != 0) GTEST_SKIP() << kHelper << " is out of this user's reach";
    }
    if (RunOutside({"bwrap", "--unshare-user", "--ro-bind", "/", "/", "true"}).status != 0) {
      GTEST_SKIP() << "user namespaces are not available";
    }
  }

  Strings AsUser(const Strings& words) const {
    Strings all = prefix_;
    all.insert(all.end(), words.begin(), words.end());
    return all;
  }
  Outcome RunOutside(const Strings& words) const { return Program(AsUser(words)).Finish(); }
  Outcome Outside(const std::string& script) const {
    return RunOutside({"sh", "-c", "cd " + workspace_.path() + " && " + script});
  }

  Strings HelperWords(const Strings& command, const std::string& profile) const {
    Strings words = {
        kHelper, "--backend", GetParam().backend, "--sandbox-policy-cwd", workspace_.path(), "--permission-profile",
        profile, "--"};
    words.insert(words.end(), command.begin(), command.end());
    return AsUser(words);
  }
  Outcome RunInside(const Strings& command, const std::string& profile = Profile()) const {
    return Program(HelperWords(command, profile)).Finish();
  }
  Outcome Inside(const std::string& script, const std::string& profile = Profile()) const {
    return RunInside({"sh", "-c", script}, profile);
  }

  std::string In(const std::string& name) const { return workspace_.path() + "/" + name; }
  std::string OutsideOf(const std::string& name) const { return outside_.path() + "/" + name; }
  bool WorkspaceIsEmpty() const { return fs::is_empty(workspace_.path()); }

  ScratchDir workspace_, outside_;
  Strings prefix_;
};

std::string BackendCaseName(const testing::TestParamInfo<BackendCase>& info) {
  return fmt::format("As{}By{}", info.param.user == kNobody ? "Nobody" : "ThisUser",
                     info.param.backend == "native"       ? "Native"
                     : info.param.backend == "bubblewrap" ? "Bubblewrap"
                                                          : "Default");
}

std::vector<BackendCase> BothUsersWith(const Strings& backends) {
  std::vector<BackendCase> cases;
  for (const std::string& backend : backends) {
    for (const uid_t user : {::geteuid(), ::geteuid() == kNobody ? 0 : kNobody}) cases.push_back({user, backend});
  }
  return cases;
}

INSTANTIATE_TEST_SUITE_P(, SandboxTest, testing::ValuesIn(BothUsersWith({"native", "bubblewrap"})), BackendCaseName);

// These tests are about programs that choose the backend themselves.
class HoldfastSandboxTest : public SandboxTest {};

INSTANTIATE_TEST_SUITE_P(, HoldfastSandboxTest, testing::ValuesIn(BothUsersWith({"auto"})), BackendCaseName);

TEST_P(SandboxTest, TheWorkspaceCanBeWritten) {
  const Outcome outcome = Inside("echo hello > made && mkdir -p a/b && mv made a/b/ && cat a/b/made && pwd");
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(outcome.out, "hello\n" + fs::canonical(workspace_.path()).string() + "\n");
  EXPECT_EQ(fs::file_size(In("a/b/made")), 6u);
}

TEST_P(SandboxTest, NothingElseCanBeWritten) {
  const std::string write = "echo x > " + OutsideOf("made");
  EXPECT_NE(Inside(write).status, 0);
  EXPECT_FALSE(fs::exists(OutsideOf("made")));
  EXPECT_EQ(Outside(write).status, 0);
  EXPECT_TRUE(fs::exists(OutsideOf("made")));
}

TEST_P(SandboxTest, AReadOnlyWorkspaceCannotBeWritten) {
  const std::string read_only =
      fmt::format(R"({{"type":"managed","file_system":{{"type":"restricted","entries":[{}]}},"network":"restricted"}})",
                  Special("root", "read"));
  EXPECT_NE(Inside("echo x > made", read_only).status, 0);
  EXPECT_TRUE(WorkspaceIsEmpty());
  EXPECT_EQ(Outside("echo x > made").status, 0);
}

TEST_P(SandboxTest, ProtectedNamesCannotBeMadeAndNothingIsLeftBehind) {
  for (const std::string name : {".git", ".codex", ".agents"}) {
    const std::string make = fmt::format("mkdir -p {0}/hooks && echo x > {0}/hooks/pre-commit", name);
    EXPECT_NE(Inside(make).status, 0) << name;
    EXPECT_NE(Inside(fmt::format("rmdir {0}; mv {0} x; mkdir y && mv -T y {0}", name)).status, 0) << name;
    EXPECT_FALSE(fs::exists(In(name)));
    EXPECT_EQ(Outside(fmt::format("rm -rf y; {}", make)).status, 0) << name;
    EXPECT_EQ(Outside("rm -rf " + name).status, 0) << name;
  }
  EXPECT_TRUE(WorkspaceIsEmpty());
}

TEST_P(SandboxTest, AfterAKillOfTheHelperNothingIsLeftBehindAndNothingRuns) {
  Program helper(HelperWords({"sh", "-c", "echo up; exec sleep 1000"}, Profile()));
  helper.AwaitOutput("up\n");
  EXPECT_FALSE(WorkspaceIsEmpty()) << "then there is nothing to see here";
  helper.Signal(SIGKILL);
  EXPECT_EQ(helper.Finish().status, 128 + SIGKILL);  // with the end of its output: the command is gone
  EXPECT_TRUE(Eventually([&] { return WorkspaceIsEmpty(); }));
}

TEST_P(SandboxTest, ADirectoryThatWasThereStays) {
  ASSERT_EQ(Outside("mkdir .git && echo x > .git/HEAD && mkdir .codex").status, 0);
  const Outcome outcome = Inside("cat .git/HEAD; echo y > .git/HEAD");
  EXPECT_EQ(outcome.out, "x\n");
  EXPECT_NE(outcome.status, 0);
  EXPECT_TRUE(fs::is_directory(In(".codex")));
  EXPECT_FALSE(fs::exists(In(".agents")));
  EXPECT_EQ(Outside("echo y > .git/HEAD").status, 0);
}

// A command puts a bubblewrap of its own into its workspace. The next command runs under another policy, which does not
// name that workspace, with a PATH that leads there. That bubblewrap would be executed outside, perhaps by root.
TEST_P(SandboxTest, NoBubblewrapThatACommandCanHaveMadeIsExecuted) {
  const std::string program =
      "#!/bin/sh\\ntouch " + OutsideOf("ran") + R"(\nexit\n--perms\0--as-pid-1\0--ro-bind-data\0--args\0)";
  ASSERT_EQ(Inside("mkdir bin && printf '" + program + "' > bin/bwrap && chmod +x bin/bwrap").status, 0);
  const std::string read_only = R"({"type":"managed","file_system":{"type":"restricted","entries":[)" +
                                Special("root", "read") + R"(]},"network":"restricted"})";
  Strings words = HelperWords({"true"}, read_only);
  const auto helper = std::ranges::find(words, kHelper);
  words.insert(helper, {"env", "PATH=" + In("bin") + ":/usr/bin:/bin"});
  const ScratchDir other;
  ASSERT_EQ(::chmod(other.path().c_str(), 0755), 0);
  for (const std::string& project : {workspace_.path(), other.path()}) {
    *(std::ranges::find(words, "--sandbox-policy-cwd") + 1) = project;
    EXPECT_EQ(Program(words).Finish().status, 0);
    EXPECT_FALSE(fs::exists(OutsideOf("ran"))) << project;
  }
  EXPECT_EQ(Outside("bin/bwrap").status, 0);
  EXPECT_TRUE(fs::exists(OutsideOf("ran"))) << "then it does nothing";
}

// Nothing has to be protected in such a directory, because no process inside can make a file in it.
TEST_P(SandboxTest, AWritableRootThatTheUserCannotWriteIsNoHindrance) {
  const ScratchDir others;
  ASSERT_EQ(::chmod(others.path().c_str(), 0755), 0);
  const auto ran = Inside("mkdir " + others.path() + "/.git; echo ran", Profile({Path(others.path(), "write")}));
  EXPECT_EQ(ran.out, "ran\n");
  EXPECT_FALSE(fs::exists(others.path() + "/.git"));
}

// Whatever a command leaves in its workspace, the next command can be started.
TEST_P(SandboxTest, NoRepositoryOfACommandIsAHindrance) {
  for (const char* const act :
       {"mkdir -p n/.git && chmod 0 n/.git", "mkdir -p n/.git && chmod 555 n/.git", "mkdir -p n/.git && chmod 0 n",
        "mkdir -p n/.git && echo /proc/1/root > n/.git/commondir",
        "mkdir -p n y && chmod 0 y && echo 'gitdir: ../y/z' > n/.git", "mkdir n && mkfifo n/.git",
        "mkdir n && ln -s .git n/.git", "mkdir n && ln -s /nonexistent n/.git", "mkdir n && ln -s ../x n/.git",
        "mkdir -p n/.git x && ln -s ../../x n/.git/hooks && ln -s ../../x/config n/.git/config",
        "mkdir -p n/.git x && ln -s ../../x/made n/.git/hooks && ln -s ../../x/hooks/config n/.git/config",
        "mkdir -p n/.git y && ln -s ../../y/z n/.git/hooks && chmod 0 y",
        "mkdir -p n/.git && ln -s hooks n/.git/hooks && ln -s /dev/null n/.git/config",
        "mkdir -p n/.git && ln -s $PWD n/.git/hooks && ln -s /proc/self/environ n/.git/config"}) {
    EXPECT_EQ(Inside(act).status, 0) << act;
    EXPECT_EQ(Inside("mkdir -p x/made x/hooks && echo ran > x/config && cat x/config").out, "ran\n") << act;
    EXPECT_EQ(Outside("chmod -R u+rwX . && rm -rf n x y").status, 0) << act;
  }
}

// The path that the link leads to is longer than system calls accept.
TEST_P(SandboxTest, NoLinkOfARepositoryIntoADeepTreeIsAHindrance) {
  ASSERT_EQ(Inside(R"(mkdir -p n/.git && cd n/.git && perl -e '
      $step = "x" x 239;
      symlink(join("/", ($step) x 17), "hooks") or die;
      for (1 .. 18) { mkdir($step) && chdir($step) or die }')")
                .status,
            0);
  EXPECT_EQ(Inside("echo ran").out, "ran\n");
}

// Two commands in a row cannot do it either: what one command makes inaccessible stays so for the next.
TEST_P(SandboxTest, HooksOfANestedRepositoryStayAsTheyAre) {
  for (const char* const act : {"chmod 0 d", "chmod 100 d", "chmod 300 d", "chmod 0 d/r", "true"}) {
    ASSERT_EQ(Outside("mkdir -p d/r/.git/hooks && echo old > d/r/.git/hooks/x").status, 0);
    EXPECT_EQ(Inside(act).status, 0) << act;
    Inside("chmod 755 d; chmod 755 d/r; chmod 755 d/r/.git; echo new > d/r/.git/hooks/x");
    EXPECT_EQ(Outside("chmod -R u+rwX d && cat d/r/.git/hooks/x && rm -r d").out, "old\n") << act;
  }
}

// Nearly every policy opens /tmp, so any command could have made a link there. The scratch directories are in /tmp.
TEST_P(SandboxTest, NoRootIsReachedThroughALinkInTmp) {
  ASSERT_EQ(Outside(fmt::format("ln -s {} link", outside_.path())).status, 0);
  const Outcome outcome = Inside("echo ran; touch link/made", Profile({Path(In("link"), "write")}));
  EXPECT_EQ(outcome.out, "");
  EXPECT_THAT(outcome.err, HasSubstr("crosses the link " + In("link")));
  EXPECT_FALSE(fs::exists(OutsideOf("made")));
  EXPECT_EQ(Inside("touch made", Profile({Path(outside_.path(), "write")})).status, 0) << "by its own name";
}

TEST_P(SandboxTest, ADeniedFileCannotBeRead) {
  ASSERT_EQ(Outside("echo secret > key && mkdir keys && echo secret > keys/one").status, 0);
  const std::string profile = Profile({Path(In("key"), "deny"), Path(In("keys"), "deny")});
  for (const std::string read : {"cat key", "ls keys", "cat keys/one"}) {
    const Outcome outcome = Inside(read, profile);
    EXPECT_NE(outcome.status, 0) << read;
    EXPECT_EQ(outcome.out, "") << read;
    EXPECT_THAT(outcome.err, HasSubstr("Permission denied")) << read;
    EXPECT_EQ(Outside(read).status, 0) << read;
  }
}

TEST_P(SandboxTest, ProcCannotBeWritten) {
  const std::string act = "echo name > /proc/self/comm";
  EXPECT_EQ(Outside(act).status, 0);
  EXPECT_NE(Inside(act).status, 0);
  EXPECT_THAT(Inside("grep ' /proc ' /proc/mounts | tail -n 1").out, HasSubstr(" /proc proc ro,"));
}

// Even a command that may write everything cannot change the settings of the machine.
TEST_P(SandboxTest, TheKnobsInProcCannotBeWrittenWhereEverythingElseCan) {
  const std::string everything =
      fmt::format(R"({{"type":"managed","file_system":{{"type":"restricted","entries":[{}]}},"network":"restricted"}})",
                  Special("root", "write"));
  EXPECT_EQ(Inside("echo name > /proc/self/comm", everything).status, 0);
  const auto knob = Inside("cat /proc/sys/kernel/hostname > /proc/sys/kernel/hostname", everything);
  EXPECT_NE(knob.status, 0);
  EXPECT_THAT(knob.err, HasSubstr("Read-only"));
}

TEST_P(SandboxTest, ThereIsNoNetwork) {
  const Strings send = {"bash", "-c", "echo x > /dev/udp/127.0.0.1/9"};
  ASSERT_EQ(RunOutside(send).status, 0);
  const Outcome outcome = RunInside(send);
  EXPECT_NE(outcome.status, 0);
  EXPECT_THAT(outcome.err, HasSubstr("Operation not permitted"));
  EXPECT_EQ(RunInside(send, Profile({}, "enabled")).status, 0);
}

TEST_P(SandboxTest, TheStatusIsTheCommands) {
  EXPECT_EQ(RunInside({"true"}).status, 0);
  EXPECT_EQ(Inside("exit 3").status, 3);
  EXPECT_EQ(Inside("kill -TERM $$").status, 128 + SIGTERM);
  EXPECT_EQ(Inside("kill -KILL $$").status, 128 + SIGKILL);
}

TEST_P(SandboxTest, SaysWhyACommandCannotRun) {
  const Outcome missing = RunInside({"no-such-command"});
  EXPECT_EQ(missing.status, 127);
  EXPECT_THAT(missing.err, HasSubstr("no-such-command: No such file or directory"));
  ASSERT_EQ(Outside("echo > plain").status, 0);
  const Outcome plain = RunInside({"./plain"});
  EXPECT_EQ(plain.status, 126);
  EXPECT_THAT(plain.err, HasSubstr("./plain: Permission denied"));
}

TEST_P(SandboxTest, WithoutASandboxTheStatusesAreTheSame) {
  const std::string disabled = R"({"type":"disabled"})";
  EXPECT_EQ(Inside("exit 3", disabled).status, 3);
  EXPECT_EQ(RunInside({"no-such-command"}, disabled).status, 127);
  EXPECT_EQ(Inside("echo x > " + OutsideOf("made"), disabled).status, 0);
}

TEST_P(SandboxTest, WhatMakesNoSenseHasStatusesOfItsOwn) {
  const std::string cwd = workspace_.path();
  EXPECT_EQ(RunOutside({kHelper}).status, 2);
  EXPECT_EQ(RunOutside({kHelper, "--no-such-flag"}).status, 2);
  EXPECT_EQ(RunOutside({kHoldfast, "sandbox", "--no-such-flag"}).status, 2);
  EXPECT_EQ(RunInside({"true"}, "{").status, 2);
  EXPECT_EQ(RunInside({}).status, 101);
  EXPECT_EQ(RunOutside({kHelper, "--sandbox-policy-cwd", cwd, "--", "true"}).status, 101);
  EXPECT_EQ(RunOutside({kHelper, "--sandbox-policy-cwd", cwd, "--permission-profile-fd", "77", "--", "true"}).status,
            2);
}

TEST_P(SandboxTest, ATerminationReachesTheCommandsTrap) {
  Program helper(HelperWords({"sh", "-c", "trap 'echo trapped; exit 7' TERM; echo up; sleep 1000 & wait"}, Profile()));
  helper.AwaitOutput("up\n");
  helper.Signal(SIGTERM);
  const Outcome outcome = helper.Finish();
  EXPECT_EQ(outcome.status, 7);
  EXPECT_THAT(outcome.out, HasSubstr("trapped\n"));
  EXPECT_TRUE(WorkspaceIsEmpty());
}

// The kernel limits the pending real-time signals of a user, and the command belongs to the user of the helper. The
// limit of this test is its own, so that no other program of the user notices.
TEST_P(SandboxTest, ACommandThatUsesUpTheSignalsOfItsUserIsStillTerminated) {
  const std::string fill =
      "import ctypes, signal, sys\n"
      "signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGRTMIN])\n"
      "me, libc = __import__('os').getpid(), ctypes.CDLL(None)\n"
      "while libc.sigqueue(me, signal.SIGRTMIN, None) == 0: pass\n"
      "signal.signal(signal.SIGTERM, lambda *_: sys.exit(7))\n"
      "print('full', flush=True)\n"
      "signal.pause()\n";
  Strings words = HelperWords({"python3", "-c", fill}, Profile());
  words.insert(words.begin(), {"prlimit", "--sigpending=200"});
  Program helper(words);
  helper.AwaitOutput("full\n");
  helper.Signal(SIGTERM);
  EXPECT_EQ(helper.Finish().status, 7);
}

TEST_P(SandboxTest, ACommandThatATerminationEndsIsReportedSo) {
  Program helper(HelperWords({"sh", "-c", "echo up; exec sleep 1000"}, Profile()));
  helper.AwaitOutput("up\n");
  helper.Signal(SIGTERM);
  EXPECT_EQ(helper.Finish().status, 128 + SIGTERM);
}

TEST_P(SandboxTest, ThePolicyCanComeByADescriptor) {
  const std::string profile = outside_.Write("profile", Profile());
  const OwnedFd fd(::open(profile.c_str(), O_RDONLY | O_CLOEXEC));
  const Strings words = AsUser({kHelper, "--sandbox-policy-cwd", workspace_.path(), "--permission-profile-fd=3", "--",
                                "sh", "-c", "echo x > made; ls /proc/self/fd | wc -l; echo x > " + OutsideOf("made")});
  const Outcome outcome = Program(words, fd.get()).Finish();
  EXPECT_NE(outcome.status, 0);
  EXPECT_EQ(outcome.out, "4\n") << "0, 1, 2 and that of ls: the policy's is not the command's";
  EXPECT_TRUE(fs::exists(In("made")));
  EXPECT_FALSE(fs::exists(OutsideOf("made")));
}

TEST_P(SandboxTest, DescriptorsOfTheCallerDoNotPass) {
  const std::string secret = outside_.Write("secret", "secret");
  const OwnedFd fd(::open(secret.c_str(), O_RDONLY | O_CLOEXEC));
  const Outcome outcome = Program(HelperWords({"sh", "-c", "cat <&3"}, Profile()), fd.get()).Finish();
  EXPECT_NE(outcome.status, 0);
  EXPECT_EQ(outcome.out, "");
  EXPECT_EQ(Program(AsUser({"sh", "-c", "cat <&3"}), fd.get()).Finish().out, "secret");
}

TEST_P(HoldfastSandboxTest, TheServersProgramStandsInForTheHelper) {
  for (const std::string name : {"codex-linux-sandbox", "holdfast-linux-sandbox"}) {
    const std::string link = OutsideOf(name);
    fs::create_symlink(kHoldfast, link);
    const auto run = [&](const std::string& script) {
      return RunOutside({link, "--sandbox-policy-cwd", workspace_.path(), "--permission-profile", Profile(), "--", "sh",
                         "-c", script});
    };
    const Outcome outcome = run("echo $0; exit 3");
    EXPECT_EQ(outcome.status, 3) << outcome.err;
    EXPECT_EQ(outcome.out, "sh\n");
    EXPECT_NE(run("echo x > " + OutsideOf("made")).status, 0);
  }
}

TEST_P(HoldfastSandboxTest, TheNameAloneMakesItTheHelper) {
  const std::string script = fmt::format(
      "exec -a codex-linux-sandbox {} --sandbox-policy-cwd {} --permission-profile '{}' -- sh -c 'echo inside; exit 3'",
      kHoldfast, workspace_.path(), Profile());
  const Outcome outcome = RunOutside({"bash", "-c", script});
  EXPECT_EQ(outcome.status, 3) << outcome.err;
  EXPECT_EQ(outcome.out, "inside\n");
}

// `--help` answers under each name: that of the file, the link that is installed beside it, and a name that stands for
// the helper.
TEST_P(HoldfastSandboxTest, TheHelpAnswersToEveryName) {
  const fs::path built = fs::path(kHoldfast).parent_path();
  const std::string stand_in = OutsideOf("codex-linux-sandbox"), renamed = OutsideOf("sandbox");
  fs::create_symlink(kHoldfast, stand_in);
  fs::create_symlink(built / "holdfast-linux-sandbox", renamed);
  for (const std::string& path :
       {(built / "holdfast-linux-sandbox").string(), (built / "codex-linux-sandbox").string(), stand_in, renamed}) {
    const Outcome outcome = RunOutside({path, "--help"});
    EXPECT_EQ(outcome.status, 0) << path << ": " << outcome.err;
    EXPECT_THAT(outcome.out, StartsWith("usage: " + fs::path(path).filename().string() + " FLAGS -- ")) << path;
    EXPECT_THAT(outcome.out, HasSubstr("--permission-profile JSON")) << path;
    EXPECT_EQ(outcome.err, "") << path;
  }
}

TEST_P(HoldfastSandboxTest, PeopleHaveACommandOfTheirOwn) {
  const auto run = [&](const Strings& words) {
    Strings all = {kHoldfast, "sandbox", "-C", workspace_.path()};
    all.insert(all.end(), words.begin(), words.end());
    return RunOutside(all);
  };
  EXPECT_NE(run({"--", "touch", In("made")}).status, 0);
  EXPECT_FALSE(fs::exists(In("made")));
  EXPECT_EQ(run({"--workspace-write", "--", "touch", In("made")}).status, 0);
  EXPECT_TRUE(fs::exists(In("made")));
  EXPECT_EQ(run({"-w", outside_.path(), "--", "touch", OutsideOf("made")}).status, 0);
  EXPECT_THAT(run({"--deny", In("made"), "--", "cat", In("made")}).err, HasSubstr("Permission denied"));
  EXPECT_EQ(run({"--", "sh", "-c", "exit 3"}).status, 3);
  EXPECT_EQ(run({}).status, 2);
  EXPECT_EQ(run({"--profile", "none-such", "--", "true"}).status, 2);
}

TEST_P(HoldfastSandboxTest, PeopleCanDenyByAnyPattern) {
  ASSERT_EQ(Outside("echo secret | tee a.key > a.pem && echo open > a.txt").status, 0);
  const auto read = [&](const std::string& name) {
    return RunOutside({kHoldfast, "sandbox", "-C", workspace_.path(), "--deny", "a.{key,pem}", "--", "cat", name});
  };
  for (const std::string name : {"a.key", "a.pem"}) {
    EXPECT_THAT(read(name).err, HasSubstr("Permission denied")) << name;
    EXPECT_EQ(read(name).out, "") << name;
    EXPECT_EQ(Outside("cat " + name).out, "secret\n") << name;
  }
  EXPECT_EQ(read("a.txt").out, "open\n");
}

TEST_P(HoldfastSandboxTest, WhatPeopleNameIsBelowTheDirectoryTheyName) {
  const std::string act = "mkdir project sub project/sub && echo outer | tee key > a.env && cd project && echo inner";
  ASSERT_EQ(Outside(act + " | tee key > a.env").status, 0);
  const auto run = [&](const Strings& words) {
    Strings all = {"env", "-C", workspace_.path(), kHoldfast, "sandbox", "-C", "project"};
    all.insert(all.end(), words.begin(), words.end());
    return RunOutside(all);
  };
  const Strings names = {"key", "a.env"};
  for (const std::string& name : names) {
    const std::string denied = name == "key" ? "key" : "*.env";
    EXPECT_THAT(run({"--deny", denied, "--", "cat", name}).err, HasSubstr("Permission denied")) << name;
    EXPECT_EQ(run({"--deny", denied, "--", "cat", "../" + name}).out, "outer\n") << name;
    EXPECT_EQ(run({"--", "cat", name}).out, "inner\n") << name;
  }
  EXPECT_EQ(run({"-w", "sub", "--", "touch", "sub/made"}).status, 0);
  EXPECT_TRUE(fs::exists(In("project/sub/made")));
  EXPECT_NE(run({"-w", "sub", "--", "touch", "../sub/made"}).status, 0);
  EXPECT_FALSE(fs::exists(In("sub/made")));
}

TEST_P(HoldfastSandboxTest, PeopleAreToldWhatCannotBeDenied) {
  const auto refusal = [&](const std::string& flag, const std::string& text) {
    const Outcome outcome =
        RunOutside({kHoldfast, "sandbox", "-C", workspace_.path(), flag, text, "--", "echo", "ran"});
    EXPECT_EQ(outcome.status, 2) << text;
    EXPECT_EQ(outcome.out, "") << text;
    return outcome.err;
  };
  EXPECT_EQ(refusal("--deny", "file:///srv/*.key"),
            "holdfast: --deny \"file:///srv/*.key\": is a URI, but a pattern must be a path\n");
  EXPECT_EQ(refusal("--deny", "\xff*"), "holdfast: the pattern \"\\xff*\" is not UTF-8\n");
  EXPECT_EQ(refusal("--deny", ""), "holdfast: --deny \"\": is empty\n");
  EXPECT_EQ(refusal("-w", ""), "holdfast: -w \"\": is empty\n");
}

// In JSON the home directory would become another one, and the helper would deny nothing in the real one.
TEST_P(HoldfastSandboxTest, AHomeThatIsNotUtf8IsInNoPattern) {
  const std::string config =
      outside_.Write("config.toml", "[permissions.mine.filesystem]\n\":root\" = \"read\"\n\"~/*.key\" = \"deny\"\n");
  const Outcome outcome = RunOutside({"env", "HOME=/home/\xff", kHoldfast, "sandbox", "-C", workspace_.path(),
                                      "--config", config, "--profile", "mine", "--", "echo", "ran"});
  EXPECT_EQ(outcome.status, 2);
  EXPECT_EQ(outcome.out, "");
  EXPECT_EQ(outcome.err, "holdfast: the pattern \"/home/\\xff/*.key\" is not UTF-8\n");
}

// The warning begins with the name of the program that the user has called.
TEST_P(HoldfastSandboxTest, PeopleAreWarnedByTheirOwnProgram) {
  if (!sandbox::CheckLandlockAbi(sandbox::LandlockAbi())) GTEST_SKIP() << "the kernel's Landlock is too old";
  const std::string alone = OutsideOf("holdfast");  // no bubblewrap is bundled with it
  fs::copy_file(kHoldfast, alone);
  fs::copy_file(kHelper, OutsideOf("holdfast-linux-sandbox"));
  const Outcome outcome = RunOutside({"env", "PATH=/none", alone, "sandbox", "--backend", "bubblewrap",
                                      "--allow-landlock-only", "-C", "/", "--", "/bin/echo", "ran"});
  EXPECT_EQ(outcome.out, "ran\n");
  EXPECT_THAT(outcome.err, StartsWith("holdfast: warning: Landlock only"));
}

TEST_P(HoldfastSandboxTest, WithoutTheHelperBesideItNothingIsRun) {
  const std::string alone = OutsideOf("holdfast");
  const std::string helper = OutsideOf("holdfast-linux-sandbox");
  fs::copy_file(kHoldfast, alone);
  const auto run = [&] { return RunOutside({alone, "sandbox", "--", "/bin/echo", "ran"}); };
  const Outcome missing = run();
  EXPECT_EQ(missing.status, 101);
  EXPECT_EQ(missing.out, "");
  EXPECT_EQ(missing.err, fmt::format("holdfast: exec {}: No such file or directory. It is installed with holdfast, and "
                                     "has to be beside it\n",
                                     helper));
  fs::create_symlink("holdfast", helper);  // it would execute itself for ever
  const Outcome link = run();
  EXPECT_EQ(link.status, 101);
  EXPECT_EQ(link.err, fmt::format("holdfast: {} is a link to holdfast, and not the helper\n", helper));
}

TEST_P(HoldfastSandboxTest, ExplainPrintsThePlanAndRunsNothing) {
  const Outcome outcome = RunOutside(
      {kHoldfast, "sandbox", "--explain", "--workspace-write", "-C", workspace_.path(), "--", "touch", In("made")});
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr(workspace_.path()));
  EXPECT_THAT(outcome.out, HasSubstr(".git"));
  EXPECT_TRUE(WorkspaceIsEmpty());
}

}  // namespace
}  // namespace holdfast::support
