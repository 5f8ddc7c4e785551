// The orders tell the inner stage what to do. They are passed in a descriptor, so that nothing of them shows on a
// command line: by the outer stage to the inner stage, or by the server to a launcher. The native backend passes them
// in memory, because its inner stage is a clone of the helper.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "process/command/command.h"
#include "process/command/start_report.h"
#include "sandbox/plan/mount_check.h"
#include "sandbox/plan/plan.h"
#include "sandbox/proxy/listener.h"

namespace holdfast::sandbox {

// The descriptors of the command's standard streams until the inner stage puts them in their places. Until then
// descriptors 0, 1 and 2 are the streams of bubblewrap or of the launcher.
struct Streams {
  int in = -1, out = -1, err = -1;

  void Fields(this auto& self, auto& f) { f(self.in, self.out, self.err); }

  friend bool operator==(const Streams&, const Streams&) = default;
};

// A function of this program that runs in the place of a command, and is as confined as one. It has to keep the
// `absent` paths absent by itself, and to check that the `mounted` paths stay mount points. It returns the exit code.
using BuiltIn = int (*)(const std::vector<std::string>& absent, const std::vector<std::string>& mounted);

struct InnerOrders {
  // The program and argv are empty only when a built-in function runs. The directory is absolute, or empty for the
  // current directory of the stage. The command's variables and search path are not passed: `environment` has the
  // variables exactly as they came, which process::Environment could not hold, and a program without a slash is looked
  // up in their PATH.
  process::Command command;
  bool built_in = false;                 // the function that RunInnerStage was given runs, and no program
  std::vector<std::string> absent = {};  // for the built-in function
  // NAME=VALUE entries in their order, also malformed ones; absent: the environment of the stage.
  std::optional<std::vector<std::string>> environment = {};
  Filter filter = Filter::kRestrictedNetwork;
  std::vector<MountCheck> mounts = {};
  std::vector<LandlockRule> landlock = {};
  std::vector<int> kept_fds = {};           // besides 0, 1 and 2, in rising order
  std::optional<int> port_ruleset_fd = {};  // port_ruleset.h; absent: every port may be connected to
  std::optional<ProxyOrders> proxy = {};
  std::optional<Streams> streams = {};         // absent: the streams are in their places
  std::optional<int> report_fd = {};           // for the report on the start: process/command/start_report.h
  process::Enforcement enforcement = {};       // goes into that report
  std::optional<int> lifeline_fd = {};         // lifeline.h; absent: the stage starts the command without waiting
  std::optional<int> control_fd = {};          // control_socket.h; never together with a lifeline
  std::optional<int> exec_supervisor_fd = {};  // exec_layer.h; absent: the command is not supervised

  static constexpr std::string_view kRecord = "orders 5\n";
  void Fields(this auto& self, auto& f) {
    f(self.command.program, self.command.argv, self.command.cwd, self.built_in, self.absent, self.environment,
      self.filter, self.mounts, self.landlock, self.kept_fds, self.port_ruleset_fd, self.proxy, self.streams,
      self.report_fd, self.enforcement.backend, self.enforcement.reason, self.lifeline_fd, self.control_fd,
      self.exec_supervisor_fd);
  }
  // Returns whether the orders can be carried out.
  bool IsValid() const;
};

}  // namespace holdfast::sandbox
