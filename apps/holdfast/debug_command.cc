#include "debug_command.h"

#include <CLI/CLI.hpp>

#include "sandbox/sandboxed_command.h"

namespace holdfast {

DebugCommand::DebugCommand(CLI::App& app) {
  app.require_subcommand(1);
  CLI::App* landlock = app.add_subcommand(
      "landlock", "Runs one command under a policy, like `holdfast sandbox -c use_legacy_landlock=true`.");
  landlock_.emplace(*landlock, sandbox::LegacyLandlock::kWhereItFits);
}

int DebugCommand::Run() const { return landlock_->Run(); }

}  // namespace holdfast
