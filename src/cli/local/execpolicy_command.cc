#include "cli/local/execpolicy_command.h"

#include <cstdio>
#include <filesystem>
#include <optional>
#include <string>
#include <system_error>
#include <vector>

#include <fmt/format.h>

#include "base/environment_variable.h"
#include "base/result.h"
#include "cli/local/evaluation_json.h"
#include "cli/table/arguments.h"
#include "exec_policy/explain.h"
#include "exec_policy/policy.h"
#include "exec_policy/store/load.h"

namespace holdfast::cli {
namespace {

constexpr int kBadRules = 1, kBadUsage = 2;

int Complain(int status, const std::string& message) {
  const std::string line = fmt::format("holdfast execpolicy check: {}", message);
  (void)std::fprintf(stderr, "%s%s", line.c_str(), line.ends_with('\n') ? "" : "\n");
  return status;
}

Result<std::optional<exec_policy::Places>> PlacesFor(const Arguments& arguments) {
  if (!arguments.Has("--resolve-host-executables")) return std::nullopt;
  std::error_code error;
  const auto cwd = std::filesystem::current_path(error);
  if (error) return FailErrno("getcwd", "", error.value());
  return exec_policy::Places{.cwd = cwd.string(), .home = EnvironmentVariable("HOME").value_or("/")};
}

Result<std::string> Check(const Arguments& arguments) {
  TRY(const exec_policy::Policy policy, exec_policy::LoadPolicy({}, arguments.Values("--rules")));
  TRY(const auto places, PlacesFor(arguments));
  const std::vector<std::string> command = arguments.Values("COMMAND");
  const exec_policy::Evaluation evaluation = policy.Evaluate(command, places);
  if (arguments.Has("--explain")) return exec_policy::Explain(evaluation, command);
  const std::string json = EvaluationJson(evaluation);
  return (arguments.Has("--pretty") ? Indented(json) : json) + '\n';
}

int Run(const Arguments& arguments) {
  if (!arguments.Has("--rules")) return Complain(kBadUsage, "name at least one rules file by --rules");
  const Result<std::string> text = Check(arguments);
  if (!text) return Complain(kBadRules, text.error().message);
  return std::fputs(text->c_str(), stdout) < 0 || std::fflush(stdout) != 0 ? 1 : 0;
}

}  // namespace

Command ExecpolicyCheckCommand() {
  return {
      .name = "execpolicy check",
      .topic = Topic::kOther,
      .summary = "Tells what rules files decide about a command.",
      .description =
          "The output is one JSON object with every rule that matches and the strictest of their decisions: "
          "allow, prompt or forbidden. Nothing is run.",
      .options = {{.flag = "--rules",
                   .letter = "-r",
                   .value = "FILE",
                   .help = "a rules file; all files together make one set of rules",
                   .completes = Completes::kFile,
                   .times = Option::Times::kMany},
                  {.flag = "--pretty", .help = "print the JSON on several lines"},
                  {.flag = "--resolve-host-executables",
                   .help =
                       "let rules about the name of a program also apply to its path, if host_executable allows it"},
                  {.flag = "--explain", .help = "say in words which rule decided, where it is, and which rules lost"}},
      .arguments = {{.name = "COMMAND",
                     .help = "the command, as words; it begins at the first word that is no option of this list",
                     .count = Argument::Count::kRest,
                     .completes = Completes::kProgram,
                     .begins = Argument::Begins::kAlsoAtUnknownOption}},
      .examples = {{"holdfast execpolicy check -r default.rules git push", "Prints the decision about git push."},
                   {"holdfast execpolicy check -r default.rules --explain rm -rf build",
                    "Says which rule decides about the command, and why."}},
      .exit_statuses = {{"0", "the rules were evaluated, whatever they decide"},
                        {"1", "a rules file cannot be read, or has a mistake"},
                        {"2", "the command line is wrong"}},
      .run = Run};
}

}  // namespace holdfast::cli
