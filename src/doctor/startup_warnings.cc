#include "doctor/startup_warnings.h"

#include <chrono>
#include <iterator>

#include <fmt/format.h>

#include "doctor/limited_run.h"
#include "doctor/sandbox_program_run.h"
#include "doctor/tools.h"
#include "sandbox/bubblewrap/bubblewrap.h"

namespace holdfast::doctor {
namespace {

constexpr std::chrono::seconds kLimit{3};

sandbox::BubblewrapSearch SearchIn(const Surroundings& surroundings) {
  return {.path_variable = surroundings.path_variable,
          .untrusted = {surroundings.cwd},
          .trust = surroundings.trust,
          .own_directory = DirectoryOf(surroundings.program),
          .bundled_sha256 = ""};  // not compared here; the helper compares it at each start
}

bool IsBundled(const sandbox::Bubblewrap& bubblewrap, const Surroundings& surroundings) {
  return bubblewrap.path.starts_with(DirectoryOf(surroundings.program) + "/holdfast-resources/");
}

// Runs bubblewrap with the namespaces of a real sandbox, and with a mount of /proc, which containers often refuse.
RunOutcome TryBubblewrap(const sandbox::Bubblewrap& bubblewrap, const Surroundings& surroundings) {
  std::vector<std::string> arguments = {"bwrap",
                                        "--die-with-parent",
                                        "--unshare-user",
                                        "--unshare-pid",
                                        "--unshare-net",
                                        "--ro-bind",
                                        "/",
                                        "/",
                                        "--proc",
                                        "/proc",
                                        "--"};
  std::ranges::copy(NothingCommand(surroundings), std::back_inserter(arguments));
  return RunLimited({.program = bubblewrap.path, .arguments = std::move(arguments), .limit = kLimit});
}

std::string NativeText(const sandbox::HostFacts& facts, const sandbox::NativeFailure& native) {
  return fmt::format("does not work here: {}. {}", Text(native), Explain(facts, native));
}

void WarnOfBubblewrap(const Surroundings& surroundings, const sandbox::HostFacts& facts,
                      std::vector<std::string>& warnings) {
  const auto bubblewrap = sandbox::FindBubblewrap(SearchIn(surroundings));
  if (!bubblewrap) {
    warnings.push_back(
        fmt::format("Sandboxed commands will be refused: {}. Install bubblewrap.", bubblewrap.error().message));
    return;
  }
  if (IsBundled(*bubblewrap, surroundings)) {
    warnings.push_back(fmt::format("There is no usable bwrap on PATH, so the bundled {} is used.", bubblewrap->path));
  }
  const RunOutcome outcome = TryBubblewrap(*bubblewrap, surroundings);
  if (outcome.kind != RunOutcome::Kind::kEnded || outcome.status == 0) return;
  if (const std::string cause = sandbox::ExplainFailure(facts, outcome.err); !cause.empty()) {
    warnings.push_back(
        fmt::format("Sandboxed commands will be refused: bubblewrap cannot make a sandbox here. {}", cause));
  }
}

}  // namespace

std::vector<std::string> StartupWarnings(const Surroundings& surroundings, const sandbox::HostFacts& facts,
                                         sandbox::Backend backend,
                                         const std::optional<sandbox::NativeFailure>& native) {
  if (const auto host = sandbox::CheckHost(facts.wsl); !host) {
    return {fmt::format("Sandboxed commands will be refused: {}.", host.error().message)};
  }
  std::vector<std::string> warnings;
  if (const auto program = ExamineSandboxProgram(surroundings); program.finding.state != State::kOk) {
    warnings.push_back(fmt::format("Sandboxed commands will be refused: {}", program.finding.detail));
  }
  if (backend == sandbox::Backend::kNative && native) {
    warnings.push_back("Sandboxed commands will be refused: the native backend " + NativeText(facts, *native));
  }
  if (backend == sandbox::Backend::kAuto && native) {
    warnings.push_back("The native backend, which is the fastest, " + NativeText(facts, *native));
  }
  const bool uses_bubblewrap =
      backend == sandbox::Backend::kBubblewrap || (backend == sandbox::Backend::kAuto && native);
  if (uses_bubblewrap) WarnOfBubblewrap(surroundings, facts, warnings);
  return warnings;
}

std::vector<std::string> StartupWarnings(sandbox::Backend backend) {
  const bool may_be_native = backend != sandbox::Backend::kBubblewrap;
  return StartupWarnings(OwnSurroundings(), sandbox::GatherHostFacts(), backend,
                         may_be_native ? sandbox::TryNative({}) : std::nullopt);
}

}  // namespace holdfast::doctor
