#include "doctor/helper_run.h"

#include <unistd.h>

#include <algorithm>
#include <iterator>
#include <string_view>
#include <utility>

#include <fmt/format.h>

namespace holdfast::doctor {
namespace {

std::string Entry(std::string_view kind, std::string_view access) {
  return fmt::format(R"({{"path":{{"type":"special","value":{{"kind":"{}"}}}},"access":"{}"}})", kind, access);
}

}  // namespace

std::string Profile(Writable writable, Net net) {
  std::string entries = Entry("root", "read");
  if (writable == Writable::kWorkspace) entries += "," + Entry("project_roots", "write");
  return fmt::format(R"({{"type":"managed","file_system":{{"type":"restricted","entries":[{}]}},"network":"{}"}})",
                     entries, net == Net::kEnabled ? "enabled" : "restricted");
}

RunOutcome RunHelper(const Surroundings& surroundings, const HelperRun& run) {
  std::vector<std::string> arguments = {"holdfast-linux-sandbox", "--sandbox-policy-cwd", run.workspace,
                                        "--permission-profile", run.profile};
  std::ranges::copy(run.flags, std::back_inserter(arguments));
  arguments.emplace_back("--");
  std::ranges::copy(run.command, std::back_inserter(arguments));
  return RunLimited({.program = surroundings.program,
                     .arguments = std::move(arguments),
                     .variables = run.variables,
                     .input = run.input,
                     .limit = run.limit});
}

std::vector<std::string> NothingCommand(const Surroundings& surroundings) {
  for (const char* path : {"/bin/true", "/usr/bin/true"}) {
    if (::access(path, X_OK) == 0) return {path};
  }
  return {surroundings.program, "--version"};
}

}  // namespace holdfast::doctor
