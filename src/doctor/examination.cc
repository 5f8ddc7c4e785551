#include "doctor/examination.h"

#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <fstream>
#include <span>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "doctor/cgroups.h"
#include "doctor/kernel_findings.h"
#include "doctor/namespaces.h"
#include "doctor/policy_trials.h"
#include "doctor/tools.h"
#include "sandbox/confine/landlock.h"
#include "sandbox/jail/host_limits.h"

namespace holdfast::doctor {
namespace {

using namespace std::chrono_literals;

// Kills all children of this process, and waits for at most a second until they have ended. They are processes that a
// killed helper has left behind: this process is their subreaper, and all other children of it have ended.
void EndChildren() {
  const auto deadline = std::chrono::steady_clock::now() + 1s;
  for (;;) {
    const pid_t ended = ::waitpid(-1, nullptr, WNOHANG);
    if (ended < 0 && errno != EINTR) return;
    if (std::chrono::steady_clock::now() >= deadline) return;
    if (ended != 0) continue;
    std::ifstream children("/proc/thread-self/children");
    for (pid_t child = 0; children >> child;) ::kill(child, SIGKILL);
    (void)::poll(nullptr, 0, 5);
  }
}

std::vector<std::string> NamesOfFailed(std::span<const TrialReport> policies) {
  std::vector<std::string> names;
  for (const TrialReport& policy : policies) {
    if (policy.finding.state != State::kOk) names.push_back(policy.name);
  }
  return names;
}

bool IsOk(const TrialReport& policy) { return policy.finding.state == State::kOk; }

// Returns the reason of the first failure, which has to be repaired first.
std::string WhyNot(const ProgramReport& program, std::span<const TrialReport> policies) {
  if (program.finding.state != State::kOk) return program.finding.detail;
  const auto failed = std::ranges::find_if_not(policies, IsOk);
  return failed == policies.end() ? "Nothing was tried." : failed->finding.detail;
}

}  // namespace

void Conclude(Report& report) {
  const std::span all(report.policies);
  const std::span essential = all.first(std::min(all.size(), kEssentialPolicies));
  report.works = !essential.empty() && std::ranges::all_of(essential, IsOk);
  if (!report.works) {
    report.summary = fmt::format("The sandbox does not work here. {}", WhyNot(report.sandbox_program, essential));
    return;
  }
  const std::vector<std::string> others = NamesOfFailed(all.subspan(essential.size()));
  report.summary = others.empty() ? "The sandbox works here."
                                  : fmt::format("The sandbox works here, except for: {}.", fmt::join(others, ", "));
  if (report.landlock.abi == 0)
    report.summary += " Landlock is missing, so only the mounts and the filter enforce a policy.";
}

Report Examine(const Surroundings& surroundings) {
  (void)::prctl(PR_SET_CHILD_SUBREAPER, 1);  // if this fails, orphaned processes still end, below another subreaper
  const sandbox::HostFacts facts = sandbox::GatherHostFacts();
  Report report;
  report.host = DescribeHost(facts);
  report.sandbox_program = ExamineSandboxProgram(surroundings);
  report.bubblewrap = ExamineBubblewrap(surroundings);
  report.bundled = ExamineBundled(surroundings);
  report.ripgrep = ExamineRipgrep(surroundings);
  report.namespaces = DescribeNamespaces(TryNamespaces(3s));
  report.landlock = DescribeLandlock(sandbox::LandlockAbi());
  report.seccomp = DescribeSeccomp(facts);
  report.apparmor = DescribeAppArmor(facts);
  report.cgroups = FindCgroups();
  report.backends = TryBackends(surroundings, facts);
  report.policies = TryPolicies(surroundings, facts);
  EndChildren();
  Conclude(report);
  return report;
}

}  // namespace holdfast::doctor
