#include "cli/local/commands.h"

#include <cstddef>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/environment_variable.h"
#include "base/result.h"
#include "base/shown_text.h"
#include "cli/table/arguments.h"
#include "exec_policy/evaluation.h"
#include "exec_policy/explain.h"
#include "exec_policy/policy.h"
#include "exec_policy/rule.h"
#include "exec_policy/store/append.h"
#include "exec_policy/store/load.h"
#include "exec_policy/store/rule_layers.h"
#include "wire/encode.h"

namespace holdfast::cli {
namespace {

struct PrefixRuleMatch {
  std::vector<std::string> matched_prefix;
  std::string decision;
  std::optional<std::string> resolved_program, justification;

  void Fields(auto& f) {
    f.Required("matchedPrefix", matched_prefix);
    f.Required("decision", decision);
    f.Optional("resolvedProgram", resolved_program);
    f.Optional("justification", justification);
  }
};

struct MatchedRule {
  PrefixRuleMatch prefix_rule_match;

  void Fields(auto& f) { f.Required("prefixRuleMatch", prefix_rule_match); }
};

struct CheckResult {
  std::vector<MatchedRule> matched_rules = {};
  std::optional<std::string> decision = {};

  void Fields(auto& f) {
    f.Required("matchedRules", matched_rules);
    f.Optional("decision", decision);
  }
};

// The text that Indented builds.
class Layout {
 public:
  void Open(char bracket) {
    out_ += bracket;
    ++depth_;
    BeginLine();
  }
  void Close(char bracket) {
    --depth_;
    BeginLine();
    out_ += bracket;
  }
  void Separate() {
    out_ += ',';
    BeginLine();
  }
  void Plain(std::string_view text) { out_ += text; }

  std::string Take() && { return std::move(out_); }

 private:
  void BeginLine() {
    out_ += '\n';
    out_.append(depth_ * 2, ' ');
  }

  std::string out_;
  size_t depth_ = 0;
};

// Returns the length of the string literal at the beginning of `json`.
size_t StringLength(std::string_view json) {
  size_t end = 1;
  while (json[end] != '"') end += json[end] == '\\' ? 2 : 1;
  return end + 1;
}

// Returns one line without its end.
std::string EvaluationJson(const exec_policy::Evaluation& evaluation) {
  CheckResult result;
  for (const exec_policy::RuleMatch& match : evaluation.matches) {
    result.matched_rules.push_back({{.matched_prefix = match.matched_prefix,
                                     .decision = std::string(WordOf(match.decision)),
                                     .resolved_program = match.resolved_program,
                                     .justification = match.justification}});
  }
  if (evaluation.decision) result.decision = WordOf(*evaluation.decision);
  return wire::Encode(result);
}

// Returns JSON without blanks on several lines, with two spaces for each level.
std::string Indented(const std::string& json) {
  Layout layout;
  std::string_view rest = json;
  while (!rest.empty()) {
    size_t size = 1;
    if (rest.starts_with("[]") || rest.starts_with("{}")) {
      size = 2;
      layout.Plain(rest.substr(0, size));
    } else if (rest[0] == '"') {
      size = StringLength(rest);
      layout.Plain(rest.substr(0, size));
    } else if (rest[0] == '{' || rest[0] == '[') {
      layout.Open(rest[0]);
    } else if (rest[0] == '}' || rest[0] == ']') {
      layout.Close(rest[0]);
    } else if (rest[0] == ',') {
      layout.Separate();
    } else {
      layout.Plain(rest[0] == ':' ? ": " : rest.substr(0, 1));
    }
    rest.remove_prefix(size);
  }
  return std::move(layout).Take();
}

constexpr int kFailed = 1, kBadUsage = 2;

int Complain(const Arguments& arguments, int status, const std::string& message) {
  const std::string text = ShownLines(fmt::format("holdfast {}: {}", arguments.command().name, message));
  (void)std::fprintf(stderr, "%s%s", text.c_str(), text.ends_with('\n') ? "" : "\n");
  return status;
}

// Prints the text, or complains about an error.
int Finish(const Arguments& arguments, const Result<std::string>& text) {
  if (!text) return Complain(arguments, kFailed, text.error().message);
  return std::fputs(text->c_str(), stdout) < 0 || std::fflush(stdout) != 0 ? kFailed : 0;
}

Result<std::string> CurrentDirectory() {
  std::error_code error;
  const auto cwd = std::filesystem::current_path(error);
  if (error) return FailErrno("getcwd", "", error.value());
  return cwd.string();
}

Result<std::optional<exec_policy::Places>> PlacesFor(const Arguments& arguments) {
  if (!arguments.Has("--resolve-host-executables")) return std::nullopt;
  TRY(std::string cwd, CurrentDirectory());
  return exec_policy::Places{.cwd = std::move(cwd), .home = EnvironmentVariable("HOME").value_or("/")};
}

Result<std::string> Check(const Arguments& arguments) {
  TRY(const exec_policy::Policy policy, exec_policy::LoadPolicy({}, arguments.Values("--rules")));
  TRY(const auto places, PlacesFor(arguments));
  const std::vector<std::string> command = arguments.Values("COMMAND");
  const exec_policy::Evaluation evaluation = policy.Evaluate(command, places);
  if (arguments.Has("--explain")) return exec_policy::Explain(evaluation, command);
  const std::string json = EvaluationJson(evaluation);
  return ShownJson(arguments.Has("--pretty") ? Indented(json) : json) + '\n';
}

int RunCheck(const Arguments& arguments) {
  if (!arguments.Has("--rules")) return Complain(arguments, kBadUsage, "name at least one rules file by --rules");
  return Finish(arguments, Check(arguments));
}

Result<std::string> FileToAppendTo(const Arguments& arguments) {
  if (const auto named = arguments.Value("--rules")) {
    if (named->starts_with('/')) return *named;
    TRY(const std::string cwd, CurrentDirectory());
    return fmt::format("{}/{}", cwd, *named);
  }
  const auto approved = exec_policy::FindRuleLayers(exec_policy::HomeVariables::OfThisProcess()).approved_rules;
  if (approved) return *approved;
  return Fail(ErrorKind::kInvalidParams, "HOME is not set; name a rules file by --rules");
}

// A rule at the end of a file with a mistake would have no effect, and could become part of the mistake: of a text
// whose quotes are not closed, for example.
Result<> CheckRulesOf(const std::string& file) {
  const auto policy = exec_policy::LoadPolicy({}, std::vector{file});
  if (!policy && policy.error().kind != ErrorKind::kNotFound) return std::unexpected(policy.error());
  return {};
}

Result<std::string> Allow(const Arguments& arguments) {
  using exec_policy::Appended, exec_policy::Decision;
  const std::vector<std::string> words = arguments.Values("WORD");
  TRY(const std::string file, FileToAppendTo(arguments));
  TRY_VOID(CheckRulesOf(file));
  TRY(const Appended appended, exec_policy::AppendRule(file, words, Decision::kAllow));
  return fmt::format("{}\n{} {}\n", exec_policy::RuleText(words, Decision::kAllow),
                     appended == Appended::kYes ? "was appended to" : "is already in", file);
}

int RunAllow(const Arguments& arguments) { return Finish(arguments, Allow(arguments)); }

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
      .run = RunCheck};
}

Command ExecpolicyAllowCommand() {
  return {
      .name = "execpolicy allow",
      .topic = Topic::kOther,
      .summary = "Appends a rule that allows the commands which begin with the given words.",
      .description =
          "The rule takes these commands out of the sandbox without a question. The rule and the file are printed. A "
          "file "
          "that has the rule already stays as it is.\n\n"
          "Rules files belong to the machine of the server that reads them: run this command there. A rule that says "
          "prompt or forbidden about the same command is stricter, and still wins.",
      .options = {{.flag = "--rules",
                   .letter = "-r",
                   .value = "FILE",
                   .help =
                       "the rules file, which is made if it is missing; without this option it is rules/default.rules "
                       "in $CODEX_HOME or in ~/.codex, which holdfast mcp-server and codex read",
                   .completes = Completes::kFile}},
      .arguments = {{.name = "WORD",
                     .help = "the first words of the commands; the first one is the program",
                     .count = Argument::Count::kRest,
                     .completes = Completes::kProgram,
                     .begins = Argument::Begins::kAlsoAtUnknownOption}},
      .examples = {{"holdfast execpolicy allow git push", "Allows git push, whatever follows."},
                   {"holdfast execpolicy allow -r team.rules npm run build", "Appends the rule to another file."}},
      .exit_statuses = {{"0", "the file has the rule"},
                        {"1", "the file cannot be written, is not trusted, or has a mistake"},
                        {"2", "the command line is wrong"}},
      .run = RunAllow};
}

}  // namespace holdfast::cli
