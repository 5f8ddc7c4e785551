// The sandbox that the options of a command line describe (sandbox_options.h).
#pragma once

#include <string>

#include "base/result.h"
#include "cli/table/arguments.h"
#include "sandbox/policy/sandbox_spec.h"
#include "sandbox/sandboxed_command.h"

namespace holdfast::cli {

// The directories of the machine on which the sandbox will be.
struct SandboxPlaces {
  std::string directory;  // absolute: the working directory, which is the workspace, and where relative paths begin
  std::string home;       // the directory that `~` in a TOML file stands for; may be empty
};

// Returns the places of this process, with the working directory `directory`; a relative one is below the current one.
Result<SandboxPlaces> OwnPlaces(const std::string& directory = ".");

struct SandboxChoice {
  sandbox::SandboxSpec spec;
  bool prefers_landlock = false;  // the setting use_legacy_landlock of the TOML file
};

// Returns what the options describe: read-only with the additions that they make, unless they name a sandbox. The
// option --sandbox-policy, which only the MCP server has, names one by the JSON of a legacy policy. Every failure is
// kInvalidParams, also that of a file which the options name and which cannot be read.
Result<SandboxChoice> SandboxFrom(const Arguments& arguments, const SandboxPlaces& places);

// Returns the sandbox as a request can ask for it. A request cannot prefer Landlock, only insist on it. So it asks for
// Landlock alone where the setting prefers it and the policy is read-only, which Landlock can enforce.
sandbox::SandboxSpec SpecOfRequest(SandboxChoice choice);

// Returns the sandbox around a command that is still to be filled in, in the working directory `directory`.
sandbox::SandboxedCommand CommandIn(const sandbox::SandboxSpec& spec, const std::string& directory);

}  // namespace holdfast::cli
