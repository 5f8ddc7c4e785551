// The environment of a command that `holdfast run` starts.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "cli/connect/invocation.h"
#include "client/process.h"

namespace holdfast::cli {

// Sets the variables of `options`, or the policy by which the server makes them, from the options --env and --env-all
// and from the environment of this program. `options` has its sandbox and its rules already: a command with one of them
// does not get variables whose names look like secrets, unless the user passes them, nor those by which it would find a
// server. HOLDFAST_RUN is the name of the run, which a prompt can show. Returns the names of the variables of this
// program that were left out because of their names.
Result<std::vector<std::string>> SetEnvironment(const Invocation& invocation, const std::string& run_name,
                                                client::StartOptions& options);

}  // namespace holdfast::cli
