// Tests of commands under Landlock and the filter alone, by each of the settings that lead there, as this user and, if
// that is root, also as an unprivileged user. Each denial is shown beside the same act outside.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/owned_fd.h"
#include "sandbox/confine/landlock.h"
#include "sandbox/jail/landlock_stage.h"
#include "support/program.h"
#include "support/scratch_dir.h"

namespace holdfast::support {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using Strings = std::vector<std::string>;

constexpr uid_t kNobody = 65534;
const std::string kHoldfast = HOLDFAST_BINARY;
const std::string kHelper = fs::path(kHoldfast).replace_filename("holdfast-linux-sandbox");

std::string Special(std::string_view kind, std::string_view access) {
  return fmt::format(R"({{"path":{{"type":"special","value":{{"kind":"{}"}}}},"access":"{}"}})", kind, access);
}
std::string Managed(const std::string& entries, std::string_view network = "restricted") {
  return fmt::format(R"({{"type":"managed","file_system":{{"type":"restricted","entries":[{}]}},"network":"{}"}})",
                     entries, network);
}
const std::string kReadOnly = Managed(Special("root", "read"));
const std::string kWorkspaceWrite = Managed(Special("root", "read") + "," + Special("project_roots", "write"));

Strings Joined(Strings words, const Strings& more) {
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

class LandlockStageTest : public testing::TestWithParam<uid_t> {
 protected:
  void SetUp() override {
    const auto landlock = sandbox::CheckLandlockAbi(sandbox::LandlockAbi());
    if (!landlock) GTEST_SKIP() << landlock.error().message;
    if (GetParam() == ::geteuid()) return;
    if (::geteuid() != 0) GTEST_SKIP() << "only root can become another user";
    prefix_ = {"setpriv", "--reuid", std::to_string(kNobody), "--regid", std::to_string(kNobody), "--clear-groups"};
    ASSERT_EQ(::chown(dir_.path().c_str(), kNobody, kNobody), 0);
    if (Run({"test", "-x", kHelper}).status != 0) GTEST_SKIP() << kHelper << " is out of this user's reach";
  }

  Strings AsUser(const Strings& words) const { return Joined(prefix_, words); }
  Outcome Run(const Strings& words) const { return Program(AsUser(words)).Finish(); }
  Outcome Outside(const std::string& script) const { return Run({"sh", "-c", "cd " + dir_.path() + " && " + script}); }

  Strings Helper(const Strings& flags, const std::string& script, const std::string& profile) const {
    const Strings words = {kHelper, "--sandbox-policy-cwd", dir_.path(), "--permission-profile", profile};
    return Joined(Joined(words, flags), {"--", "bash", "-c", script});
  }
  Outcome Inside(const std::string& script, const std::string& profile = kReadOnly) const {
    return Run(Helper({"--use-legacy-landlock"}, script, profile));
  }
  Outcome People(const Strings& words) const { return Run(Joined({kHoldfast, "sandbox", "-C", dir_.path()}, words)); }

  // Expects that the script fails inside and works outside.
  void ExpectStopped(const std::string& script) const {
    EXPECT_NE(Inside(script).status, 0) << script;
    EXPECT_EQ(Outside(script).status, 0) << script;
  }

  void RequireBubblewrap() const {
    if (Run({"bwrap", "--unshare-user", "--ro-bind", "/", "/", "true"}).status != 0) {
      GTEST_SKIP() << "user namespaces are not available";
    }
  }

  // Returns a command line under which no user namespace can be made. It works in a user namespace of its own, so that
  // nothing of the machine is changed.
  Strings WithoutUserNamespaces(const Strings& words) const {
    return Joined({"unshare", "-Ur", "sh", "-c", "echo 0 > /proc/sys/user/max_user_namespaces && exec \"$@\"", "sh"},
                  words);
  }

  std::string In(const std::string& name) const { return dir_.path() + "/" + name; }
  std::string PidNamespace() const { return Outside("readlink /proc/self/ns/pid").out; }

  ScratchDir dir_;
  Strings prefix_;
};

std::string UserName(const testing::TestParamInfo<uid_t>& info) {
  return info.param == kNobody ? "AsNobody" : "AsThisUser";
}
INSTANTIATE_TEST_SUITE_P(, LandlockStageTest, testing::Values(::geteuid(), ::geteuid() == kNobody ? 0 : kNobody),
                         UserName);

TEST_P(LandlockStageTest, RunsWithoutNamespacesAndPrivileges) {
  const Outcome outcome =
      Inside("readlink /proc/self/ns/pid; pwd; grep -c '^Cap[^B]..:.*[1-9a-f]' /proc/self/status; exit 3");
  EXPECT_EQ(outcome.status, 3) << outcome.err;
  EXPECT_EQ(outcome.out, PidNamespace() + dir_.path() + "\n0\n");
  EXPECT_THAT(outcome.err, IsEmpty());
}

TEST_P(LandlockStageTest, EverythingIsReadOnly) {
  ASSERT_EQ(Outside("echo x > file && mkdir empty && mkfifo fifo").status, 0);
  EXPECT_EQ(Inside("cat file && ls empty && head -c 1 /dev/urandom && echo x > /dev/null").status, 0);
  ExpectStopped("echo y > file");
  ExpectStopped("truncate -s 1 file");
  ExpectStopped("mv file other && mv other file");
  ExpectStopped("ln file other && rm other");
  ExpectStopped("rmdir empty && mkdir empty");
  ExpectStopped("exec 9<> fifo");
}

TEST_P(LandlockStageTest, AttributesStayAsTheyAre) {
  ASSERT_EQ(Outside("echo x > file").status, 0);
  ExpectStopped("chmod 600 file");
  ExpectStopped("chown $(id -u) file");
  ExpectStopped("touch -c -d @1 file");
}

TEST_P(LandlockStageTest, ADescriptorOfTheCallerDoesNotPass) {
  const std::string secret = dir_.Write("secret", "secret");
  const OwnedFd fd(::open(secret.c_str(), O_RDONLY | O_CLOEXEC));
  EXPECT_EQ(Program(AsUser(Helper({"--use-legacy-landlock"}, "cat <&3", kReadOnly)), fd.get()).Finish().out, "");
  EXPECT_EQ(Program(AsUser({"sh", "-c", "cat <&3"}), fd.get()).Finish().out, "secret");
}

TEST_P(LandlockStageTest, ProcessesOutsideAreLeftAlone) {
  if (sandbox::LandlockAbi() < sandbox::kLandlockAbiOfSignals) GTEST_SKIP() << "the kernel keeps no signals inside";
  Program other(AsUser({"sh", "-c", "echo up; exec sleep 1000"}));
  other.AwaitOutput("up\n");
  const std::string pid = std::to_string(other.pid());
  ExpectStopped("kill -CONT " + pid);
  ExpectStopped("renice -n 19 -p " + pid);
  ExpectStopped("prlimit --core=0 --pid " + pid);
  ExpectStopped("cat /proc/" + pid + "/environ");
}

TEST_P(LandlockStageTest, TheNetworkIsTheFiltersAffair) {
  const std::string send = "echo x > /dev/udp/127.0.0.1/9";
  ASSERT_EQ(Run({"bash", "-c", send}).status, 0);
  EXPECT_THAT(Inside(send).err, HasSubstr("Operation not permitted"));
  EXPECT_EQ(Inside(send, Managed(Special("root", "read"), "enabled")).status, 0);
}

TEST_P(LandlockStageTest, OpenFilesStayOpen) {
  const std::string open = R"({"type":"managed","file_system":{"type":"unrestricted"},"network":"restricted"})";
  EXPECT_EQ(Inside("echo x > made && chmod 600 made", open).status, 0);
  EXPECT_NE(Inside("echo x > /dev/udp/127.0.0.1/9", open).status, 0);
}

TEST_P(LandlockStageTest, AWritableFileCanBeWritten) {
  ASSERT_EQ(Outside("echo x > file && echo x > other").status, 0);
  const std::string entry = fmt::format(R"({{"path":{{"type":"path","path":"{}"}},"access":"write"}})", In("file"));
  const std::string profile = Managed(Special("root", "read") + "," + entry);
  EXPECT_EQ(Inside("echo y > file", profile).status, 0);
  EXPECT_NE(Inside("echo y > other", profile).status, 0);
  EXPECT_EQ(Outside("cat file other").out, "y\nx\n");
}

TEST_P(LandlockStageTest, SaysWhyACommandCannotRun) {
  const Strings words = {kHelper,   "--sandbox-policy-cwd",  dir_.path(), "--permission-profile",
                         kReadOnly, "--use-legacy-landlock", "--"};
  EXPECT_EQ(Run(Joined(words, {"no-such-command"})).status, 127);
  ASSERT_EQ(Outside("echo > plain").status, 0);
  EXPECT_EQ(Run(Joined(words, {"./plain"})).status, 126);
}

TEST_P(LandlockStageTest, ByTheFlagAPolicyThatNeedsMountsIsRefused) {
  const Outcome outcome = Inside("echo x > made", kWorkspaceWrite);
  EXPECT_EQ(outcome.status, 1);
  EXPECT_THAT(outcome.err, HasSubstr("landlock cannot keep " + In(".agents") + " read-only"));
  EXPECT_THAT(outcome.err, HasSubstr("-c use_legacy_landlock=true uses Landlock only where it is enough"));
  EXPECT_FALSE(fs::exists(In("made")));
  EXPECT_THAT(Inside("true", Managed(Special("minimal", "read"))).err, HasSubstr("landlock cannot hide"));
}

TEST_P(LandlockStageTest, BySettingAPolicyThatNeedsMountsStaysWithBubblewrap) {
  RequireBubblewrap();
  for (const std::string key : {"use_legacy_landlock", "features.use_legacy_landlock"}) {
    const auto run = [&](const std::string& script, const std::string& profile) {
      return Run(Helper({"-c", key + "=true"}, script, profile));
    };
    EXPECT_EQ(run("readlink /proc/self/ns/pid", kReadOnly).out, PidNamespace());
    const Outcome outcome = run("echo x > made; readlink /proc/self/ns/pid", kWorkspaceWrite);
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    EXPECT_THAT(outcome.out, Not(PidNamespace()));
    EXPECT_NE(run("mkdir .git/x", kWorkspaceWrite).status, 0);
  }
}

TEST_P(LandlockStageTest, PeopleReachItToo) {
  RequireBubblewrap();
  const std::string config = dir_.Write("config.toml", "[features]\nuse_legacy_landlock = true\n");
  ASSERT_EQ(::chmod(config.c_str(), 0644), 0);
  const Strings look = {"--", "readlink", "/proc/self/ns/pid"};
  EXPECT_THAT(People(look).out, Not(PidNamespace()));
  for (const Strings& door :
       {Strings{"--use-legacy-landlock"}, Strings{"-c", "use_legacy_landlock=true"}, Strings{"--config", config}}) {
    EXPECT_EQ(People(Joined(door, look)).out, PidNamespace()) << door.front();
  }
  EXPECT_THAT(People(Joined({"--config", config, "-c", "use_legacy_landlock=false"}, look)).out, Not(PidNamespace()));
  EXPECT_EQ(Run(Joined({kHoldfast, "debug", "landlock", "-C", dir_.path()}, look)).out, PidNamespace());
}

TEST_P(LandlockStageTest, PeopleAreToldWhatDoesNotFit) {
  EXPECT_EQ(People({"--use-legacy-landlock", "--workspace-write", "--", "true"}).status, 1);
  EXPECT_EQ(People({"-c", "model=x", "--", "true"}).status, 2);
  EXPECT_THAT(People({"--use-legacy-landlock", "--explain"}).out, HasSubstr("no namespaces, no mounts\n"));
  EXPECT_THAT(People({"-c", "use_legacy_landlock=true", "--workspace-write", "--explain"}).out,
              HasSubstr("fresh read-only /proc"));
}

TEST_P(LandlockStageTest, WhereBubblewrapWorksThePermissionToDoWithoutHasNoEffect) {
  RequireBubblewrap();
  const Outcome outcome = Run(Helper({"--allow-landlock-only"}, "readlink /proc/self/ns/pid", kReadOnly));
  EXPECT_EQ(outcome.status, 0);
  EXPECT_THAT(outcome.out, Not(PidNamespace()));
  EXPECT_THAT(outcome.err, IsEmpty());
}

TEST_P(LandlockStageTest, WithoutUserNamespacesLandlockWillDoIfAllowed) {
  if (Run(WithoutUserNamespaces({"true"})).status != 0) GTEST_SKIP() << "user namespaces are not available";
  const auto run = [&](const Strings& flags, const std::string& script, const std::string& profile) {
    return Run(WithoutUserNamespaces(Helper(flags, script, profile)));
  };
  const Outcome refused = run({}, "echo ran", kReadOnly);
  EXPECT_NE(refused.status, 0);
  EXPECT_EQ(refused.out, "");

  const Outcome done = run({"--allow-landlock-only"}, "echo ran; echo x > made", kReadOnly);
  EXPECT_EQ(done.out, "ran\n") << done.err;
  EXPECT_NE(done.status, 0);
  EXPECT_FALSE(fs::exists(In("made")));
  EXPECT_THAT(done.err, HasSubstr("holdfast-linux-sandbox: warning: Landlock only"));

  const Outcome unfit = run({"--allow-landlock-only"}, "echo ran", kWorkspaceWrite);
  EXPECT_NE(unfit.status, 0);
  EXPECT_EQ(unfit.out, "");
  EXPECT_THAT(unfit.err, HasSubstr("landlock cannot keep "));
}

// A file that the policy names comes and goes while sandboxes start, as a hostile command of another sandbox could
// bring about. The mounts then fail, in the helper or in bubblewrap, and the command must not be run with less
// protection instead.
TEST_P(LandlockStageTest, AMountThatFailsIsNoReasonToDoWithoutBubblewrap) {
  RequireBubblewrap();
  const std::string target = dir_.Write("target", "x"), away = In("away");
  const std::string profile = Managed(
      Special("root", "read") + fmt::format(R"(,{{"path":{{"type":"path","path":"{}"}},"access":"write"}})", target));
  const auto run = [&] { return Run(Helper({"--allow-landlock-only"}, "echo ran", profile)); };
  EXPECT_EQ(run().out, "ran\n");
  ASSERT_EQ(Run(WithoutUserNamespaces(Helper({"--allow-landlock-only"}, "echo ran", profile))).out, "ran\n")
      << "the policy fits Landlock";
  std::jthread attacker([&](const std::stop_token& over) {
    while (!over.stop_requested()) {
      ::rename(target.c_str(), away.c_str());
      ::rename(away.c_str(), target.c_str());
    }
  });
  int failed = 0;
  for (int i = 0; i < 100 && failed < 10; ++i) {
    const Outcome outcome = run();
    EXPECT_THAT(outcome.err, Not(HasSubstr("Landlock only")));
    failed += outcome.status != 0 ? 1 : 0;
  }
  EXPECT_GT(failed, 0) << "the attack was never in time";
}

TEST_P(LandlockStageTest, WithoutABubblewrapLandlockWillDoIfAllowed) {
  const std::string alone = In("holdfast-linux-sandbox");  // nothing is bundled with it
  fs::copy_file(kHelper, alone);
  const Strings words = {"env",     "PATH=/none", alone,       "--sandbox-policy-cwd", "/", "--permission-profile",
                         kReadOnly, "--backend",  "bubblewrap"};
  const Strings command = {"--", "/bin/sh", "-c", "echo ran"};
  const Outcome refused = Run(Joined(words, command));
  EXPECT_EQ(refused.status, 101);
  EXPECT_EQ(refused.out, "");
  const Outcome done = Run(Joined(Joined(words, {"--allow-landlock-only"}), command));
  EXPECT_EQ(done.out, "ran\n");
  EXPECT_THAT(done.err, HasSubstr("warning: Landlock only, because namespaces do not work here (no bubblewrap"));
}

}  // namespace
}  // namespace holdfast::support
