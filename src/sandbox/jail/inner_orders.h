// What the outer stage hands to the inner one, through a descriptor: nothing of it is on a command line.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "process/command/command.h"
#include "sandbox/jail/mount_check.h"
#include "sandbox/plan/plan.h"
#include "sandbox/proxy/listener.h"

namespace holdfast::sandbox {

// Numbers that the command's standard streams have until the inner stage puts them in their places. In these stand
// bubblewrap's own until then.
struct Streams {
  int in = -1, out = -1, err = -1;

  friend bool operator==(const Streams&, const Streams&) = default;
};

// What may run in the place of a command: code of this program, as confined as a command. It keeps the absent paths
// absent by itself, sees to it that the others stay mount points, and gives the exit code.
using BuiltIn = int (*)(const std::vector<std::string>& absent, const std::vector<std::string>& mounted);

struct InnerOrders {
  // Without program and argv only when something built in is run. Its directory is absolute, or empty for the one where
  // the stage is. Its variables and its search path stay behind: `environment` has the variables as they came, which
  // process::Environment could not hold, and their PATH is where a bare name is looked up.
  process::Command command;
  bool built_in = false;                 // no program is executed: RunInnerStage knows what to run
  std::vector<std::string> absent = {};  // for what is built in
  // NAME=VALUE, in their order and whatever they look like; absent: what the stage has.
  std::optional<std::vector<std::string>> environment = {};
  Filter filter = Filter::kRestrictedNetwork;
  std::vector<MountCheck> mounts = {};
  std::vector<LandlockRule> landlock = {};
  std::vector<int> kept_fds = {};           // besides 0, 1 and 2
  std::optional<int> port_ruleset_fd = {};  // port_ruleset.h; absent: every port may be connected to
  std::optional<ProxyOrders> proxy = {};
  std::optional<Streams> streams = {};  // absent: they are in their places
  std::optional<int> report_fd = {};    // for the report on the start: process/command/start_report.h
  std::optional<int> lifeline_fd = {};  // lifeline.h; absent: the stage starts the command unasked
};

std::string Encode(const InnerOrders& orders);

// Takes exactly what Encode makes of orders that can be carried out; everything else is refused.
Result<InnerOrders> DecodeOrders(std::string_view bytes);

}  // namespace holdfast::sandbox
