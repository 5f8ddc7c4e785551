// TryPolicies tries several policies on this machine, and TryBackends each backend. Both run a command in each sandbox,
// and the command observes from inside how it is restricted.
//
// What a trial does not show: that everything else is denied too. It tries to write one file that it may not write, and
// to open one descriptor again for writing.
#pragma once

#include <string_view>
#include <vector>

#include "doctor/limited_run.h"
#include "doctor/observation.h"
#include "doctor/report.h"
#include "doctor/surroundings.h"
#include "sandbox/jail/host_limits.h"

namespace holdfast::doctor {

// The flag by which `holdfast doctor` becomes the command of a trial. It prints an Observation as JSON, and has the
// paths of Places as arguments.
inline constexpr char kInsideFlag[] = "--inside";

// The number of policies whose trials decide whether the sandbox works; they are the first in the result of
// TryPolicies.
inline constexpr size_t kEssentialPolicies = 3;

// Tries each backend: native, bubblewrap, landlock.
std::vector<TrialReport> TryBackends(const Surroundings& surroundings, const sandbox::HostFacts& facts);

std::vector<TrialReport> TryPolicies(const Surroundings& surroundings, const sandbox::HostFacts& facts);

// The restrictions that a trial expects to find.
struct Expectation {
  bool own_network = true, writable_workspace = false;
};

struct TrialResult {
  RunOutcome outcome;
  std::optional<Observation> inside;
};

// Compares the result of a trial with what was expected. `outside` is an observation of this process.
TrialReport Judge(std::string_view name, const Expectation& expected, const TrialResult& result,
                  const Observation& outside, const sandbox::HostFacts& facts);

}  // namespace holdfast::doctor
