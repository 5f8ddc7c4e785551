#include "doctor/policy_trials.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <span>
#include <string>
#include <system_error>

#include <fmt/format.h>

#include "base/environment_variable.h"
#include "base/owned_fd.h"
#include "doctor/sandbox_program_run.h"
#include "sandbox/backend.h"
#include "sandbox/plan/program_names.h"
#include "sandbox/policy/policy.h"
#include "wire/decode.h"
#include "wire/json.h"

namespace holdfast::doctor {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr size_t kMaxReasonBytes = 400;
constexpr std::chrono::seconds kLimitAfterTimeout{2};
constexpr int kNotExecutable = 126, kNotFound = 127;  // exit statuses of the helper if the command cannot be executed

struct Trial {
  std::string_view name;
  Writable writable;
  sandbox::Network network;
  void (*choose)(sandbox::SandboxedCommand& sandboxed);  // sets the options of the trial besides the policy
  Expectation expected;
};

void ChooseNothing(sandbox::SandboxedCommand&) {}
void ChooseNoProc(sandbox::SandboxedCommand& sandboxed) { sandboxed.fresh_proc = false; }
void ChooseProxies(sandbox::SandboxedCommand& sandboxed) { sandboxed.sandbox.proxies.emplace(); }
template <sandbox::Backend Chosen>
void Choose(sandbox::SandboxedCommand& sandboxed) {
  sandboxed.backend = Chosen;
}
void ChooseLandlockOnly(sandbox::SandboxedCommand& sandboxed) { sandboxed.landlock_only = true; }

using enum sandbox::Network;
using enum sandbox::Backend;
constexpr std::array kBackendTrials = {
    Trial{NameOf(kNative), Writable::kNothing, kRestricted, Choose<kNative>, {}},
    Trial{NameOf(kBubblewrap), Writable::kNothing, kRestricted, Choose<kBubblewrap>, {}},
    Trial{NameOf(kLandlock), Writable::kNothing, kRestricted, Choose<kLandlock>, {.own_network = false}},
};
constexpr std::array kPolicyTrials = {
    Trial{"read-only", Writable::kNothing, kRestricted, ChooseNothing, {}},
    Trial{"workspace-write", Writable::kWorkspace, kRestricted, ChooseNothing, {.writable_workspace = true}},
    Trial{"network", Writable::kWorkspace, kEnabled, ChooseNothing, {.own_network = false, .writable_workspace = true}},
    Trial{"no-proc", Writable::kNothing, kRestricted, ChooseNoProc, {}},
    Trial{"proxy", Writable::kWorkspace, kRestricted, ChooseProxies, {.writable_workspace = true}},
    Trial{"legacy-landlock", Writable::kNothing, kRestricted, Choose<kLandlock>, {.own_network = false}},
    Trial{"landlock-only", Writable::kNothing, kRestricted, ChooseLandlockOnly, {.own_network = false}},
};

// A temporary directory with a file that no trial may write, and with a workspace. If it cannot be made, a trial only
// shows whether a command can be started.
class Scratch {
 public:
  Scratch() {
    for (const std::string& parent :
         {EnvironmentVariable("TMPDIR").value_or(""), std::string("/tmp"), std::string("/var/tmp")}) {
      std::string path = parent + "/holdfast-doctor-XXXXXX";
      if (!parent.starts_with('/') || ::mkdtemp(path.data()) == nullptr) continue;
      path_ = path;
      break;
    }
    if (path_.empty()) return;
    std::error_code failed;
    fs::create_directory(path_ + "/workspace", failed);
    const std::string file = path_ + "/outside";
    const OwnedFd made(::open(file.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
    outside_ = OwnedFd(::open(file.c_str(), O_RDONLY | O_CLOEXEC));
    if (!failed && outside_.is_open()) places_ = {.outside_file = file, .workspace = path_ + "/workspace"};
  }
  ~Scratch() {
    std::error_code left;  // if something cannot be removed, nothing can be done about it
    if (!path_.empty()) fs::remove_all(path_, left);
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  // Removes the file that a trial makes in the workspace, because each trial makes the same file.
  void EmptyWorkspace() const {
    std::error_code missing;
    if (!places_.workspace.empty()) fs::remove(places_.workspace + "/probe", missing);
  }

  const Places& places() const { return places_; }
  int outside() const { return outside_.get(); }

 private:
  std::string path_;
  OwnedFd outside_;
  Places places_;
};

std::optional<Observation> ParseObservation(std::string_view text) {
  wire::Document document;
  const auto json = document.Parse(text);
  if (!json) return std::nullopt;
  auto observation = wire::Decode<Observation>(*json);
  return observation ? std::optional(*std::move(observation)) : std::nullopt;
}

TrialResult RunTrial(const Surroundings& surroundings, const Trial& trial, const Scratch& scratch,
                     std::chrono::milliseconds limit) {
  const Places& places = scratch.places();
  const bool nowhere = places.workspace.empty();
  const auto sandboxed = [&](const std::vector<std::string>& argv) {
    const sandbox::Policy policy = PolicyFor(nowhere ? Writable::kNothing : trial.writable, trial.network);
    auto command = Sandboxed(policy, nowhere ? "/" : places.workspace, argv);
    trial.choose(command);
    return command;
  };
  SandboxProgramRun run{
      .sandboxed = sandboxed({surroundings.program, "doctor", kInsideFlag, places.outside_file, places.workspace}),
      .input = scratch.outside(),
      .limit = limit};
  if (run.sandboxed.sandbox.proxies) {
    run.variables.emplace_back("HTTP_PROXY=http://127.0.0.1:9");
  }
  TrialResult result{RunSandboxProgram(surroundings, run), std::nullopt};
  if (result.outcome.succeeded()) result.inside = ParseObservation(result.outcome.out);
  // This program may be in a directory that only root can enter, and a sandboxed command loses that right of root. So
  // another command is tried, which only shows whether commands can be started.
  if (result.outcome.status == kNotExecutable || result.outcome.status == kNotFound) {
    run.sandboxed = sandboxed(NothingCommand(surroundings));
    result.outcome = RunSandboxProgram(surroundings, run);
  }
  return result;
}

// The name of the helper, by which its messages begin, is left out.
std::string InOneLine(std::string_view text) {
  const std::string beginning = fmt::format("{}: ", sandbox::kProgramName);
  if (text.starts_with(beginning)) text.remove_prefix(beginning.size());
  while (text.ends_with('\n')) text.remove_suffix(1);
  std::string line;
  for (const char c : text.substr(0, kMaxReasonBytes)) line += c == '\n' ? std::string("; ") : std::string(1, c);
  return line;
}

Finding WhyNot(const RunOutcome& outcome, const sandbox::HostFacts& facts) {
  if (outcome.kind == RunOutcome::Kind::kTimedOut) return {State::kRefused, "it did not end in time"};
  if (outcome.kind == RunOutcome::Kind::kNotStarted) return {State::kMissing, outcome.err};
  // The message of bubblewrap is left out where its meaning is known. Other messages name their cause themselves.
  const bool by_bubblewrap = outcome.err.contains("bwrap: ");
  const std::string explanation = by_bubblewrap ? sandbox::ExplainFailure(facts, outcome.err) : "";
  if (!explanation.empty()) return {State::kRefused, explanation};
  return {State::kRefused,
          outcome.err.empty() ? fmt::format("exit status {}", outcome.status) : InOneLine(outcome.err)};
}

std::vector<std::string> WhatHolds(const Observation& outside, const Observation& inside) {
  std::vector<std::string> holds;
  if (inside.mount_namespace != outside.mount_namespace) holds.emplace_back("mounts");
  if (inside.reopens_for_writing == false) holds.emplace_back("landlock");
  if (inside.has_filter) holds.emplace_back("filter");
  if (inside.network_namespace != outside.network_namespace) holds.emplace_back("networkNamespace");
  if (inside.pid_namespace != outside.pid_namespace) holds.emplace_back("pidNamespace");
  return holds;
}

// Returns what the sandbox does not enforce as the policy demands, or an empty text if it enforces everything.
std::string WhatIsOpen(const Expectation& expected, const Observation& outside, const Observation& inside) {
  if (inside.writes_outside == true) return "a file outside of the workspace can be written";
  if (!inside.has_filter) return "there is no system call filter";
  if (inside.has_capabilities) return "the command has capabilities";
  if (expected.own_network && inside.network_namespace == outside.network_namespace)
    return "the network can be reached";
  if (inside.writes_workspace.has_value() && *inside.writes_workspace != expected.writable_workspace) {
    return expected.writable_workspace ? "the workspace cannot be written" : "the workspace can be written";
  }
  return "";
}

}  // namespace

TrialReport Judge(std::string_view name, const Expectation& expected, const TrialResult& result,
                  const Observation& outside, const sandbox::HostFacts& facts) {
  TrialReport report;
  report.name = name;
  if (!result.outcome.succeeded()) {
    report.finding = WhyNot(result.outcome, facts);
  } else if (!result.inside) {
    report.finding = {State::kOk, "started, but could not be examined from inside"};
  } else {
    report.enforced_by = WhatHolds(outside, *result.inside);
    const std::string open = WhatIsOpen(expected, outside, *result.inside);
    report.finding = {open.empty() ? State::kOk : State::kBroken, open};
    if (open.empty() && !result.inside->writes_outside)
      report.finding.detail = "started, but writes were not tried, because no temporary directory could be made";
  }
  return report;
}

namespace {

std::vector<TrialReport> TryAll(std::span<const Trial> trials, const Surroundings& surroundings,
                                const sandbox::HostFacts& facts) {
  const Scratch scratch;
  const Observation outside = Observe({});
  std::vector<TrialReport> reports;
  reports.reserve(trials.size());
  std::chrono::milliseconds limit = kSandboxProgramLimit;
  for (const Trial& trial : trials) {
    const auto start = Clock::now();
    const TrialResult result = RunTrial(surroundings, trial, scratch, limit);
    const auto took = std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - start);
    reports.push_back(Judge(trial.name, trial.expected, result, outside, facts));
    reports.back().milliseconds = static_cast<uint64_t>(took.count());
    scratch.EmptyWorkspace();
    if (result.outcome.kind == RunOutcome::Kind::kTimedOut)
      limit = kLimitAfterTimeout;  // the next trial will probably time out too
  }
  return reports;
}

}  // namespace

std::vector<TrialReport> TryBackends(const Surroundings& surroundings, const sandbox::HostFacts& facts) {
  return TryAll(kBackendTrials, surroundings, facts);
}

std::vector<TrialReport> TryPolicies(const Surroundings& surroundings, const sandbox::HostFacts& facts) {
  return TryAll(kPolicyTrials, surroundings, facts);
}

}  // namespace holdfast::doctor
