// The options by which `holdfast exec-server` connects to a rendezvous instead of listening.
#pragma once

#include <vector>

#include "base/result.h"
#include "cli/table/arguments.h"
#include "cli/table/command.h"
#include "exec_server/config/config.h"
#include "exec_server/runtime_paths.h"

namespace holdfast::cli {

std::vector<Option> RemoteOptions();

// Returns whether the command line asks for a rendezvous.
bool AsksForRemote(const Arguments& arguments);

// Serves the clients of a rendezvous, and returns the exit status.
int RunRemote(const Arguments& arguments, const exec_server::Config& config, const exec_server::RuntimePaths& paths);

}  // namespace holdfast::cli
