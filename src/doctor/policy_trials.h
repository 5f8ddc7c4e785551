// Policies tried out: a command is run under each, and says from inside what holds it.
//
// What a trial does not show: that nothing else is possible. It writes one file where it may not, and opens one
// descriptor again.
#pragma once

#include <string_view>
#include <vector>

#include "doctor/limited_run.h"
#include "doctor/observation.h"
#include "doctor/report.h"
#include "doctor/surroundings.h"
#include "sandbox/jail/host_limits.h"

namespace holdfast::doctor {

// A subcommand of holdfast with its places as arguments: prints an Observation. It is the command of a trial.
inline constexpr char kInsideFlag[] = "--inside";

// The policies whose trial decides whether the sandbox works; they come first among the reports.
inline constexpr size_t kEssentialPolicies = 3;

std::vector<PolicyReport> TryPolicies(const Surroundings& surroundings, const sandbox::HostFacts& facts);

// What a trial is about.
struct Expectation {
  bool own_network = true, writable_workspace = false;
};

// The verdict on what one trial gave. `outside` is an observation by this process.
struct TrialResult {
  RunOutcome outcome;
  std::optional<Observation> inside;
};
PolicyReport Judge(std::string_view name, const Expectation& expected, const TrialResult& result,
                   const Observation& outside, const sandbox::HostFacts& facts);

}  // namespace holdfast::doctor
