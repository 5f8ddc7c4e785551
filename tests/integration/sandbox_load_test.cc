// Two hundred sandboxes run at once in one workspace and share the placeholders of the protected names that are missing
// there. However they end, nothing of theirs is left: no placeholder, no process, no file.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/owned_fd.h"
#include "support/eventually.h"
#include "support/proc.h"
#include "support/sandbox_workspace.h"

namespace holdfast::support {
namespace {

namespace fs = std::filesystem;
using testing::Each;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

constexpr int kSandboxes = 200;
constexpr std::chrono::seconds kLongPatience(60);

std::vector<std::string> NamesIn(const std::string& directory) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(directory)) names.push_back(entry.path().filename());
  return names;
}

std::string Mounts() {
  std::ifstream file("/proc/self/mountinfo");
  return {std::istreambuf_iterator<char>(file), {}};
}

// Returns the text of a link in /proc; empty when the process has ended.
std::string LinkText(const fs::path& link) {
  std::error_code gone;
  return fs::read_symlink(link, gone).string();
}

bool IsBubblewrap(pid_t pid) { return LinkText(fmt::format("/proc/{}/exe", pid)).starts_with("/memfd:bwrap"); }

// Returns the processes that have a mount namespace in which `path` is mounted.
std::vector<pid_t> ProcessesThatMount(const std::string& path) {
  std::vector<pid_t> found;
  for (const auto& entry : fs::directory_iterator("/proc")) {
    const std::string name = entry.path().filename();
    if (name.find_first_not_of("0123456789") != std::string::npos) continue;
    std::ifstream mounts(entry.path() / "mountinfo");
    if (std::string(std::istreambuf_iterator<char>(mounts), {}).contains(path)) found.push_back(std::stoi(name));
  }
  return found;
}

// Returns the namespaces of a process, such as "mnt:[4026531841]".
std::set<std::string> NamespacesOf(pid_t pid) {
  std::set<std::string> namespaces;
  std::error_code gone;
  for (const auto& entry : fs::directory_iterator(fmt::format("/proc/{}/ns", pid), gone)) {
    namespaces.insert(LinkText(entry.path()));
  }
  return namespaces;
}

// Returns the directories in /proc of all processes on this machine.
std::set<fs::path> AllProcesses() {
  std::set<fs::path> all;
  for (const auto& process : fs::directory_iterator("/proc")) all.insert(process.path());
  return all;
}

// Returns those of the namespaces that one of the processes is in, or holds open. A process that was started later does
// not count, because the kernel gives the number of a namespace that is gone to a new one.
std::set<std::string> StillThere(const std::set<std::string>& namespaces, const std::set<fs::path>& processes) {
  std::set<std::string> found;
  for (const fs::path& process : processes) {
    for (const char* const links : {"ns", "fd"}) {
      std::error_code gone;
      for (const auto& link : fs::directory_iterator(process / links, gone)) {
        const std::string text = LinkText(link.path());
        if (namespaces.contains(text)) found.insert(text);
      }
    }
  }
  return found;
}

bool IsToBeKilled(int number) { return number % 2 == 1; }

class SandboxLoadTest : public testing::TestWithParam<SandboxCase> {
 protected:
  void SetUp() override {
    if (const std::string reason = workspace_.WhyNot(); !reason.empty()) GTEST_SKIP() << reason;
    workspace_.AddVariable(marker_);
    std::ofstream(workspace_.programs() + "/holdfast-linux-sandbox", std::ios::app | std::ios::binary) << marker_;
    ASSERT_EQ(::mkfifo(gate().c_str(), 0644), 0);
    ASSERT_EQ(::chmod(gate().c_str(), 0644), 0);
    gate_ = OwnedFd(::open(gate().c_str(), O_RDWR | O_CLOEXEC));
    ASSERT_TRUE(gate_.is_open());
  }

  std::vector<std::string> Words(const std::string& script) const { return workspace_.InsideWords(script); }

  // Commands are found by their environment. Helpers, bubblewraps and inner stages do not have it, and are found by
  // their program.
  std::vector<pid_t> Living() const {
    std::vector<pid_t> found = LivingWithVariable(marker_);
    for (const auto& entry : fs::directory_iterator("/proc")) {
      if (IsOurs(entry.path())) found.push_back(std::stoi(entry.path().filename()));
    }
    return found;
  }

  // Returns whether a process runs this test's copy of the helper, or the copy of that in memory, or has one of them
  // open, as bubblewrap has. Other tests have helpers of their own, so the content of each copy ends in a marker.
  bool IsOurs(const fs::path& process) const {
    if (HasMarker(process / "exe")) return true;
    std::error_code gone;
    for (const auto& file : fs::directory_iterator(process / "fd", gone)) {
      if (HasMarker(file.path())) return true;
    }
    return false;
  }
  bool HasMarker(const fs::path& link) const {
    if (!LinkText(link).contains("holdfast-linux-sandbox")) return false;
    std::ifstream program(link, std::ios::binary);
    std::string end(marker_.size(), '\0');
    return program.seekg(-static_cast<std::streamoff>(marker_.size()), std::ios::end) &&
           program.read(end.data(), static_cast<std::streamsize>(end.size())) && end == marker_;
  }

  // Starts the sandboxes. Each command tries something forbidden and prints its number, and none ends before OpenGate.
  void Start(const std::function<void(int)>& after_each = [](int) {}) {
    for (int number = 0; number < kSandboxes; ++number) {
      const std::string script = fmt::format(
          "exec 9< {0}; mkdir .git/hooks 2> /dev/null && exit 99; touch up.{1}; read -r <&9; echo {1}; exit {2}",
          gate(), number, number % 100);
      programs_.push_back(std::make_unique<Program>(Words(script)));
      after_each(number);
    }
  }
  // Returns whether all sandboxes have started, or all that will not be killed.
  enum class Who { kAll, kSurvivors };
  bool AreUp(Who who) const {
    const auto is_up = [&](int number) { return fs::exists(fmt::format("{}/up.{}", workspace_.path(), number)); };
    return Eventually(
        [&] {
          for (int number = 0; number < kSandboxes; ++number) {
            if ((who == Who::kAll || !IsToBeKilled(number)) && !is_up(number)) return false;
          }
          return true;
        },
        kLongPatience);
  }
  void OpenGate() { gate_.Reset(); }

  bool IsNative() const { return GetParam().means == Means::kNative; }

  // Kills the helper; under the native backend, every other time pid 1 of the sandbox, if there is one already.
  void Kill(int number) const {
    const Program& helper = *programs_[static_cast<size_t>(number)];
    const auto first = IsNative() && number % 4 == 1 ? FirstProcessBelow(helper.pid()) : std::nullopt;
    if (!first) return helper.Signal(SIGKILL);
    ::kill(*first, SIGKILL);
  }

  // Returns the namespaces of the sandboxes that run, without those of this process.
  std::set<std::string> NamespacesInside() const {
    std::set<std::string> inside;
    for (const pid_t pid : ProcessesThatMount(workspace_.path())) inside.merge(NamespacesOf(pid));
    for (const std::string& own : NamespacesOf(::getpid())) inside.erase(own);
    return inside;
  }

  // Returns the process that builds the sandbox: bubblewrap, or pid 1.
  std::optional<pid_t> BuilderOf(pid_t helper) const {
    if (IsNative()) return FirstProcessBelow(helper);
    for (const pid_t child : ChildrenOf(helper)) {
      if (IsBubblewrap(child)) return child;
    }
    return std::nullopt;
  }

  void ExpectRight(int number) const {
    const Outcome outcome = programs_[static_cast<size_t>(number)]->Finish();
    EXPECT_EQ(outcome.status, number % 100) << number;
    EXPECT_EQ(outcome.out, fmt::format("{}\n", number));
    EXPECT_EQ(outcome.err, "") << number;
  }
  void ExpectKilled(int number) const {
    EXPECT_EQ(programs_[static_cast<size_t>(number)]->Finish().status, 128 + SIGKILL) << number;
  }

  void ExpectNothingLeft() const {
    EXPECT_TRUE(Eventually([&] { return Living().empty(); })) << testing::PrintToString(Living());
    EXPECT_TRUE(Eventually([&] { return Placeholders().empty(); })) << testing::PrintToString(Placeholders());
    EXPECT_THAT(NamesIn(workspace_.path()), Each(StartsWith("up.")));
    EXPECT_THAT(NamesIn(workspace_.tmpdir()), IsEmpty());
    EXPECT_THAT(NamesIn(workspace_.home()), IsEmpty());
    EXPECT_THAT(Mounts(), Not(HasSubstr(workspace_.path())));
    EXPECT_THAT(ProcessesThatMount(workspace_.path()), IsEmpty());
  }

  std::vector<std::string> Placeholders() const {
    std::vector<std::string> names = NamesIn(workspace_.path());
    std::erase_if(names, [](const std::string& name) { return !name.starts_with("."); });
    return names;
  }

  std::string gate() const { return workspace_.elsewhere() + "/gate"; }

  SandboxWorkspace workspace_{GetParam()};
  const std::string marker_ = "HOLDFAST_LOAD_TEST=" + workspace_.path();
  std::vector<std::unique_ptr<Program>> programs_;

 private:
  OwnedFd gate_;
};

INSTANTIATE_TEST_SUITE_P(, SandboxLoadTest, testing::ValuesIn(UsersWith({Means::kNative, Means::kBundledBubblewrap})),
                         CaseName);

TEST_P(SandboxLoadTest, AllRunAtOnce) {
  Start();
  ASSERT_TRUE(AreUp(Who::kAll));
  EXPECT_THAT(Placeholders(), testing::Contains(".git")) << "then there is nothing to share";
  OpenGate();
  for (int number = 0; number < kSandboxes; ++number) ExpectRight(number);
  ExpectNothingLeft();
}

TEST_P(SandboxLoadTest, HalfAreKilledWhileTheyRun) {
  Start();
  ASSERT_TRUE(AreUp(Who::kAll));
  const std::set<std::string> namespaces = NamespacesInside();
  const std::set<fs::path> processes = AllProcesses();
  EXPECT_GE(namespaces.size(), 2u * kSandboxes);  // mount and pid namespaces, and others
  for (int number = 0; number < kSandboxes; ++number) {
    if (IsToBeKilled(number)) Kill(number);
  }
  OpenGate();
  for (int number = 0; number < kSandboxes; ++number) {
    if (IsToBeKilled(number)) {
      ExpectKilled(number);
    } else {
      ExpectRight(number);
    }
  }
  ExpectNothingLeft();
  EXPECT_TRUE(Eventually([&] { return StillThere(namespaces, processes).empty(); }))
      << testing::PrintToString(StillThere(namespaces, processes));
}

// The helpers, and pid 1 of native sandboxes, are killed at every point of the start. A bubblewrap that waits for a
// dead parent must not be left either.
TEST_P(SandboxLoadTest, HalfAreKilledWhileTheyStart) {
  constexpr int kLongestDelay = 8;  // in starts of others
  Start([&](int number) {
    for (int delay = 0; delay < kLongestDelay; ++delay) {
      const int earlier = number - delay;
      if (earlier >= 0 && IsToBeKilled(earlier) && earlier / 2 % kLongestDelay == delay) Kill(earlier);
    }
  });
  for (int number = kSandboxes - kLongestDelay; number < kSandboxes; ++number) {
    if (IsToBeKilled(number)) Kill(number);  // some have nobody after them
  }
  ASSERT_TRUE(AreUp(Who::kSurvivors));
  OpenGate();
  for (int number = 0; number < kSandboxes; ++number) {
    if (!IsToBeKilled(number)) ExpectRight(number);
  }
  ExpectNothingLeft();
}

// The placeholder may be removed only when the command is dead. Otherwise a command that waits for this moment could
// make a directory in its place.
TEST_P(SandboxLoadTest, AKillOfTheHelperGivesTheCommandNoMomentToMakeAProtectedName) {
  const std::string script = R"(perl -e '$| = 1; print "up\n"; 1 until mkdir ".git"; sleep 1000')";
  for (int round = 0; round < 20; ++round) {
    Program helper(Words(script));
    helper.AwaitOutput("up\n");
    helper.Signal(SIGKILL);
    helper.Finish();
    ASSERT_TRUE(Eventually([&] { return Living().empty(); })) << testing::PrintToString(Living());
    ASSERT_THAT(NamesIn(workspace_.path()), IsEmpty()) << round;
  }
}

// The helper, which is not killed, has to clean up. The process that builds the sandbox is killed at every point of the
// start, and while the command runs.
TEST_P(SandboxLoadTest, AKillOfTheBuilderAloneLeavesNothing) {
  for (int round = 0; round < 40; ++round) {
    Program helper(Words("touch up.0; exec sleep 1000"));
    std::optional<pid_t> builder;
    while (!builder && IsAlive(helper.pid())) builder = BuilderOf(helper.pid());
    if (round == 0) {
      EXPECT_TRUE(Eventually([&] { return fs::exists(workspace_.path() + "/up.0"); }));
    } else {
      ::usleep(static_cast<useconds_t>(round) * 200);  // another moment each time
    }
    ASSERT_TRUE(builder);
    // To a helper that looks at the files of a killed builder they are gone, and then it builds once more.
    for (; IsAlive(helper.pid()); builder = BuilderOf(helper.pid())) {
      if (builder) ::kill(*builder, SIGKILL);
    }
    EXPECT_NE(helper.Finish().status, 0) << round;
    ASSERT_TRUE(Eventually([&] { return Living().empty(); })) << round << testing::PrintToString(Living());
  }
  ExpectNothingLeft();
}

// A native sandbox consists of the helper, its reaper and pid 1, and everything inside.
class SandboxKillTest : public SandboxLoadTest {
 protected:
  // Returns the process that removes the placeholders.
  static std::optional<pid_t> ReaperOf(pid_t helper) {
    const auto first = FirstProcessBelow(helper);
    for (const pid_t child : ChildrenOf(helper)) {
      if (child != first) return child;
    }
    return std::nullopt;
  }

  enum class Victim { kHelper, kFirstProcess, kReaper, kHelperAndReaper };
  // Kills the victims that are there already. Returns whether the command ends by that.
  static bool Kill(const Program& helper, Victim victim) {
    const auto first = FirstProcessBelow(helper.pid()), reaper = ReaperOf(helper.pid());
    if (reaper && (victim == Victim::kReaper || victim == Victim::kHelperAndReaper)) ::kill(*reaper, SIGKILL);
    if (victim == Victim::kReaper) return false;
    if (victim == Victim::kFirstProcess) return first && ::kill(*first, SIGKILL) == 0;
    helper.Signal(SIGKILL);
    return true;
  }

  // Runs a sandbox to its end, which removes what killed reapers have left.
  void RunAnother() const { EXPECT_EQ(Program(Words("true")).Finish().status, 0); }

  std::chrono::microseconds TimeToStart() const {
    const auto begin = std::chrono::steady_clock::now();
    RunAnother();
    return std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::steady_clock::now() - begin);
  }
};

INSTANTIATE_TEST_SUITE_P(, SandboxKillTest, testing::ValuesIn(UsersWith({Means::kNative})), CaseName);

// The victim and the moment are random, from before the first clone until the command runs.
TEST_P(SandboxKillTest, RandomKillsLeaveNothing) {
  std::minstd_rand random(GetParam().user + 1);
  const auto longest = TimeToStart();
  for (int round = 0; round < 100; ++round) {
    Program helper(Words("exec sleep 1000"));
    ::usleep(std::uniform_int_distribution<useconds_t>(0, static_cast<useconds_t>(longest.count()))(random));
    if (!Kill(helper, static_cast<Victim>(random() % 4))) helper.Signal(SIGKILL);
    // The helper outlives pid 1, and tells with status 1 that the command was not started.
    EXPECT_THAT(helper.Finish().status, testing::AnyOf(128 + SIGKILL, 1)) << round;
  }
  ASSERT_TRUE(Eventually([&] { return Living().empty(); })) << testing::PrintToString(Living());
  RunAnother();
  ExpectNothingLeft();
}

TEST_P(SandboxKillTest, TheNextSandboxRemovesWhatAKilledReaperLeaves) {
  Program helper(Words("touch up.0; exec sleep 1000"));
  ASSERT_TRUE(Eventually([&] { return fs::exists(workspace_.path() + "/up.0"); }));
  EXPECT_TRUE(Kill(helper, Victim::kHelperAndReaper));
  helper.Finish();
  ASSERT_TRUE(Eventually([&] { return Living().empty(); })) << testing::PrintToString(Living());
  EXPECT_THAT(Placeholders(), testing::Contains(".git")) << "then there is nothing to remove";
  RunAnother();
  ExpectNothingLeft();
}

TEST_P(SandboxKillTest, ACommandDoesNotNoticeThatItsReaperIsKilled) {
  Program helper(Words("touch up.0; until [ -e up.1 ]; do sleep 0.01; done; mkdir .git/x 2> /dev/null; exit $?"));
  ASSERT_TRUE(Eventually([&] { return fs::exists(workspace_.path() + "/up.0"); }));
  EXPECT_FALSE(Kill(helper, Victim::kReaper));
  EXPECT_EQ(workspace_.Outside("touch up.1").status, 0);
  EXPECT_EQ(helper.Finish().status, 1) << "mkdir has made a directory in a protected one";
  RunAnother();
  ExpectNothingLeft();
}

}  // namespace
}  // namespace holdfast::support
