// The sandbox helper, run as any caller runs it.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "doctor/limited_run.h"
#include "doctor/surroundings.h"

namespace holdfast::doctor {

enum class Writable { kNothing, kWorkspace };
enum class Net { kRestricted, kEnabled };

// A permission profile as JSON: all may be read. /tmp is not writable in it.
std::string Profile(Writable writable, Net net);

inline constexpr std::chrono::milliseconds kHelperLimit{2000};

struct HelperRun {
  std::string profile;
  std::string workspace;
  std::vector<std::string> flags = {}, variables = {};
  int input = -1;
  std::chrono::milliseconds limit = kHelperLimit;
  std::vector<std::string> command;
};

RunOutcome RunHelper(const Surroundings& surroundings, const HelperRun& run);

// A command that does nothing, and needs nothing but to be started.
std::vector<std::string> NothingCommand(const Surroundings& surroundings);

}  // namespace holdfast::doctor
