// A Planner turns a sandbox into the plan that enforces it. It is the only place in which a policy becomes mounts: the
// server, the MCP server and the command line all plan here, and everything behind them only carries plans out.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "sandbox/plan/jail_plan.h"
#include "sandbox/plan/landlock_plan.h"
#include "sandbox/plan/plan.h"
#include "sandbox/plan/plan_options.h"
#include "sandbox/policy/sandbox_spec.h"
#include "sandbox/resolve/resolution.h"
#include "sandbox/resolve/walk_memory.h"

namespace holdfast::sandbox {

// The place that a command has outside of its sandbox.
struct CommandPlace {
  std::string cwd;          // its working directory; empty: that of the policy
  std::string tmpdir = {};  // the TMPDIR of its variables
  MissingNames missing_names = MissingNames::kCovered;
  bool fresh_proc = true;  // the sandbox gets a fresh /proc
};

// The parts of the machine that every sandbox guards, whatever its policy says: those of the server that starts the
// command, and holdfast's own programs.
struct Guarded {
  std::vector<std::string> hidden = {};        // files that no command may use or replace
  std::vector<std::string> private_dirs = {};  // private_dirs.h; empty: those of this process's environment
  std::string program_directory = {};          // own_programs.h; empty: the directory of the running program
  std::string server_tmpdir = {};              // resolve/temporary_directory.h
  // resolve/given_roots.h; absent: no roots are known. A plan that is made adds its writable roots.
  std::optional<int> given_roots_fd = {};
  bool shuts_port = false;  // a command with a network gets a port ruleset (confine/port_ruleset.h)

  friend bool operator==(const Guarded&, const Guarded&) = default;
};

// Returns the directory of holdfast's own programs.
std::string ProgramDirectory(const Guarded& guarded);

class Planner {
 public:
  // Resolves the policy. This may block. `memory` makes patterns faster for a caller that plans again; it may be null.
  static Result<Planner> Create(const SandboxSpec& spec, CommandPlace place, Guarded guarded,
                                WalkMemory* memory = nullptr);

  // Each plan has its writable roots in the list of given roots when these functions return. Directories of private
  // servers that are missing, and that the command could make, are made.
  Result<NamespacePlan> Mounts(MountsBy mounts_by) const;
  Result<LandlockPlan> Landlock() const;

  const Resolution& resolution() const { return resolution_; }

 private:
  Planner(Resolution resolution, CommandPlace place, Guarded guarded, ProxyNetwork proxy_network)
      : resolution_(std::move(resolution)),
        place_(std::move(place)),
        guarded_(std::move(guarded)),
        proxy_network_(proxy_network) {}

  PlanOptions Options(MountsBy mounts_by) const;
  Result<> Remember(std::vector<std::string> roots) const;

  Resolution resolution_;
  CommandPlace place_;
  Guarded guarded_;
  ProxyNetwork proxy_network_;
};

// A plan, with the directory in which the command of `place` starts.
struct PlannedJail {
  JailPlan plan;
  std::string working_directory;  // without links in its path
};

// Plans for a jail, which serves all commands under this sandbox. This may block.
Result<PlannedJail> PlanJail(const SandboxSpec& spec, const CommandPlace& place, const Guarded& guarded,
                             WalkMemory* memory = nullptr);

}  // namespace holdfast::sandbox
