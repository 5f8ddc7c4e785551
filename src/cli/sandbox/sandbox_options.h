// The options by which people say what a command may do. `holdfast sandbox`, `holdfast run` and `holdfast mcp-server`
// have all of them; sandbox_choice.h makes a sandbox of them.
#pragma once

#include <string>
#include <vector>

#include "cli/table/arguments.h"
#include "cli/table/command.h"

namespace holdfast::cli {

// The group of the options that name a sandbox: a command line may have one of them.
inline constexpr char kSandboxGroup[] = "sandbox";

// Returns `own` and the options of a sandbox. `otherwise` names the sandbox that holds if none of them is given.
std::vector<Option> WithSandboxOptions(std::vector<Option> own, std::string otherwise);

// Returns `own` and examples that show each of these options. `program` is a command of holdfast, such as "holdfast
// run", and `command` what it runs, such as " -- make"; it is empty for a server.
std::vector<Example> WithSandboxExamples(std::vector<Example> own, const std::string& program,
                                         const std::string& command);

// Returns whether an option that describes a sandbox is given; --explain alone describes none.
bool HasSandboxOptions(const Arguments& arguments);

}  // namespace holdfast::cli
