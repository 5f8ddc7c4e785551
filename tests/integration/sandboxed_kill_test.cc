// A test that kills processes of a server at random moments while sandboxed commands start and end.
#include <sys/prctl.h>
#include <sys/types.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <random>
#include <sstream>
#include <string>
#include <system_error>
#include <vector>

#include <gtest/gtest.h>

#include "integration/sandboxed_fixture.h"
#include "support/eventually.h"
#include "support/proc.h"

namespace holdfast::support {
namespace {

// The server of the fixture is replaced by one that may be killed. Everything that a killed server leaves behind
// becomes a descendant of the test.
class SandboxedKillTest : public SandboxedFixture {
 protected:
  void SetUp() override {
    SandboxedFixture::SetUp();
    if (IsSkipped()) return;
    server_.Stop();
    ASSERT_EQ(::prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
    StartMortal();
  }

  void StartMortal() {
    mortal_.emplace(ServerProcess::Start());
    caller_.emplace(RpcClient::Ready(mortal_->url()));
  }

  void KillMortal() {
    mortal_->Kill();
    EXPECT_TRUE(Eventually([] { return std::ranges::none_of(DescendantsOf(::getpid()), IsAlive); }))
        << testing::PrintToString(DescendantsOf(::getpid()));
  }

  // The process by which LeakSanitizer looks into a helper that ends has no exit signal, unlike all others. A helper
  // that has lost this process waits for it for ever, which is no fault of the helper.
  static bool BelongsToLeakSanitizer(pid_t pid) {
    constexpr int kExitSignal = 37;  // the number of the field, with the end of the name as the first
    const std::string stat = ReadProcFile(pid, "stat").value_or("");
    std::istringstream fields(stat.substr(std::min(stat.rfind(')'), stat.size())));
    std::string field;
    for (int i = 0; i < kExitSignal; ++i) fields >> field;
    return IsSanitized() && field == "0";
  }

  // Looks at this process alone and not at all processes of the machine, which is quick, but may miss a child while
  // another one ends.
  static std::vector<pid_t> QuickChildrenOf(pid_t pid) {
    std::vector<pid_t> children;
    std::error_code gone;
    for (const auto& task : std::filesystem::directory_iterator("/proc/" + std::to_string(pid) + "/task", gone)) {
      std::ifstream file(task.path() / "children");
      children.insert(children.end(), std::istream_iterator<pid_t>(file), {});
    }
    return children;
  }

  std::vector<pid_t> ProcessesOfServer() const {
    std::vector<pid_t> all = {mortal_->pid()};
    for (size_t i = 0; i < all.size(); ++i) {
      const std::vector<pid_t> children = QuickChildrenOf(all[i]);
      std::ranges::remove_copy_if(children, std::back_inserter(all), BelongsToLeakSanitizer);
    }
    all.erase(all.begin());
    return all;
  }

  // Returns after a random time, which is about as long as a start takes at most.
  void PassTime() {
    for (auto calls = random_() % 20; calls > 0; --calls) EXPECT_TRUE(caller_->Call("process/list").Has("result"));
  }

  // Kills a process that was there before the command was started, or one that is there now. It may have ended.
  void KillOneOf(std::vector<pid_t> processes) {
    if (processes.empty() || random_() % 2 == 0) processes = ProcessesOfServer();
    if (!processes.empty()) (void)::kill(processes[random_() % processes.size()], SIGKILL);
  }

  // Starts a command, and kills a process of the server meanwhile. Expects that the start is answered, and that the
  // command, if it was started, comes to its end.
  void KillDuring(const StartRequest& command) {
    const std::vector<pid_t> before = ProcessesOfServer();
    const int64_t start = caller_->Send("process/start", command.Params());
    PassTime();
    KillOneOf(before);
    if (!caller_->Await(start).Has("result")) return;
    const bool ends_by_itself = !command.argv.back().contains(kForever);
    if (!ends_by_itself) EXPECT_TRUE(caller_->Call("process/terminate", IdParams(command.id)).Has("result"));
    caller_->WaitForClosed(command.id);
  }

  void KillServerDuring(const StartRequest& command) {
    (void)caller_->Send("process/start", command.Params());
    PassTime();
    KillMortal();
    StartMortal();
  }

  static constexpr std::string_view kForever = "sleep 1000";

  std::optional<ServerProcess> mortal_;
  std::optional<RpcClient> caller_;
  std::minstd_rand random_;
};

// The process that is killed is a launcher, a helper, a reaper, a keeper, pid 1 of a command, or the command; or the
// server, which takes longer to replace. A placeholder that a killed reaper has left is removed with the next command.
TEST_F(SandboxedKillTest, KillsAtRandomMomentsLeaveNothing) {
  constexpr int kKills = 200, kServerIsEach = 20;
  for (int kill = 0; kill < kKills && !HasFailure(); ++kill) {
    const StartRequest command = Inside(std::to_string(kill), kill % 2 == 0 ? "sleep 0.02" : std::string(kForever));
    kill % kServerIsEach == kServerIsEach - 1 ? KillServerDuring(command) : KillDuring(command);
  }
  caller_->Start(Inside("last", "echo done"));
  EXPECT_EQ(caller_->WaitForClosed("last"), "done\n");
  EXPECT_TRUE(Eventually([&] { return !std::filesystem::exists(In(".git")); }));
  KillMortal();
}

}  // namespace
}  // namespace holdfast::support
