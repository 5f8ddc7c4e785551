#include "exec_policy/definitions.h"

#include <algorithm>
#include <optional>
#include <span>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include "base/paths.h"
#include "exec_policy/program_path.h"
#include "exec_policy/shell_words.h"
#include "starlark/description.h"
#include "starlark/list.h"
#include "starlark/run.h"

namespace holdfast::exec_policy {
namespace {

std::unexpected<Error> Invalid(std::string message) { return Fail(ErrorKind::kInvalidParams, std::move(message)); }

std::unexpected<Error> WrongType(std::string_view name, std::string_view wanted, const starlark::Value& value) {
  return Invalid(fmt::format("{} must be {}, but is {}, of type {}", name, wanted, starlark::Shown(value),
                             starlark::TypeName(value)));
}

Result<std::span<const starlark::Value>> ReadList(std::string_view name, const starlark::Value& value) {
  if (!std::holds_alternative<starlark::List*>(value)) return WrongType(name, "a list", value);
  return ItemsOf(value);
}

// Charges the copy of a text.
Result<> Charge(starlark::Budget& budget, std::string_view text) {
  TRY_VOID(budget.Spend(1 + text.size() / 16));
  return budget.Take(sizeof(std::string) + text.size());
}

Result<std::vector<std::string>> ReadAlternatives(starlark::Budget& budget, const starlark::Value& value) {
  constexpr std::string_view kName = "each element of pattern";
  TRY_VOID(budget.Take(sizeof(std::vector<std::string>)));
  if (const auto* word = std::get_if<std::string_view>(&value)) {
    TRY_VOID(Charge(budget, *word));
    return std::vector{std::string(*word)};
  }
  if (!std::holds_alternative<starlark::List*>(value)) return WrongType(kName, "a string or a list of strings", value);
  TRY(std::vector<std::string> words, ReadStrings(budget, kName, value));
  if (words.empty()) return Invalid("an element of pattern is an empty list; name at least one alternative");
  return words;
}

// Charges the words of an example before they are split. Each word ends at a blank or at the end of the text.
Result<> ChargeWords(starlark::Budget& budget, std::string_view text) {
  TRY_VOID(budget.Spend(text.size() / 2));
  const auto blanks = std::ranges::count_if(text, [](char c) { return c == ' ' || c == '\t' || c == '\n'; });
  return budget.Take(static_cast<size_t>(blanks + 1) * sizeof(std::string) + text.size());
}

Result<std::vector<std::string>> ReadExample(starlark::Budget& budget, std::string_view name,
                                             const starlark::Value& value) {
  const std::string item = fmt::format("each example of {}", name);
  TRY_VOID(budget.Spend(10));
  TRY_VOID(budget.Take(sizeof(std::vector<std::string>)));
  if (std::holds_alternative<starlark::List*>(value)) {
    TRY(std::vector<std::string> words, ReadStrings(budget, item, value));
    if (words.empty()) return Invalid(fmt::format("{} has to have a word, and one is an empty list", item));
    return words;
  }
  const auto* text = std::get_if<std::string_view>(&value);
  if (text == nullptr) return WrongType(item, "a string or a list of strings", value);
  TRY_VOID(ChargeWords(budget, *text));
  auto words = SplitWords(*text);
  if (!words) {
    return Invalid(
        fmt::format("the example `{}` of {} has a quote that is not closed, or ends in a backslash", *text, name));
  }
  if (words->empty()) return Invalid(fmt::format("{} has to have a word, and one is an empty text", item));
  return *std::move(words);
}

std::unexpected<Error> Refused(const starlark::Diagnostic& diagnostic) {
  return Fail(ErrorKind::kInvalidParams, diagnostic.Text());
}

bool AnyMatches(std::span<const Rule> rules, std::string_view program, std::span<const std::string> arguments) {
  return std::ranges::any_of(
      rules, [&](const Rule& rule) { return rule.program == program && MatchesArguments(rule, arguments); });
}

// The size of what all rules of one call have in common.
struct Size {
  size_t words = 0, bytes = 0;
};

Size SizeOf(const WordLists& arguments, const std::optional<std::string>& justification,
            const std::vector<std::string>& variables, const starlark::Source& source) {
  Size size{.bytes = source.name.size() + (justification ? justification->size() : 0)};
  for (const std::vector<std::string>& alternatives : arguments) {
    size.words += alternatives.size();
    size.bytes += sizeof(std::vector<std::string>);
    for (const std::string& word : alternatives) size.bytes += sizeof(std::string) + word.size();
  }
  for (const std::string& name : variables) size.bytes += sizeof(std::string) + name.size();
  return size;
}

// Charges the rules of one call, of which each program has a copy, and their places in the index of rules.
Result<> ChargeRules(starlark::Budget& budget, const std::vector<std::string>& programs, const WordLists& arguments,
                     const Size& size) {
  constexpr size_t kIndexBytes = 128;  // for each program, and for each word that may follow it
  const size_t places = 1 + (arguments.empty() ? 0 : arguments.front().size());
  size_t bytes = programs.size() * (sizeof(Rule) + size.bytes + places * kIndexBytes);
  for (const std::string& program : programs) bytes += program.size();
  TRY_VOID(budget.Take(bytes));
  return budget.Spend(bytes / 16);
}

}  // namespace

Result<std::string_view> ReadString(std::string_view name, const starlark::Value& value) {
  const auto* text = std::get_if<std::string_view>(&value);
  if (text == nullptr) return WrongType(name, "a string", value);
  return *text;
}

Result<std::vector<std::string>> ReadStrings(starlark::Budget& budget, std::string_view name,
                                             const starlark::Value& value) {
  TRY(const std::span<const starlark::Value> items, ReadList(name, value));
  std::vector<std::string> strings;
  const std::string item_name = fmt::format("each item of {}", name);
  for (const starlark::Value& item : items) {
    TRY(const std::string_view text, ReadString(item_name, item));
    TRY_VOID(Charge(budget, text));
    strings.emplace_back(text);
  }
  return strings;
}

Result<WordLists> ReadPattern(starlark::Budget& budget, const starlark::Value& value) {
  TRY(const std::span<const starlark::Value> items, ReadList("pattern", value));
  if (items.empty()) return Invalid("pattern is empty; it has to begin with a program");
  WordLists pattern;
  for (const starlark::Value& item : items) {
    TRY(std::vector<std::string> alternatives, ReadAlternatives(budget, item));
    pattern.push_back(std::move(alternatives));
  }
  return pattern;
}

Result<WordLists> ReadExamples(starlark::Budget& budget, std::string_view name,
                               const std::optional<starlark::Value>& value) {
  WordLists examples;
  if (!value) return examples;
  TRY(const std::span<const starlark::Value> items, ReadList(name, *value));
  for (const starlark::Value& item : items) {
    TRY(std::vector<std::string> words, ReadExample(budget, name, item));
    examples.push_back(std::move(words));
  }
  return examples;
}

Result<Decision> ReadDecision(const std::optional<starlark::Value>& value) {
  if (!value) return Decision::kAllow;
  TRY(const std::string_view text, ReadString("decision", *value));
  for (const Decision decision : {Decision::kAllow, Decision::kPrompt, Decision::kForbidden}) {
    if (text == WordOf(decision)) return decision;
  }
  return Invalid(fmt::format("the decision `{}` is none of allow, prompt and forbidden", text));
}

Result<std::optional<std::string>> ReadJustification(const std::optional<starlark::Value>& value) {
  if (!value) return std::nullopt;
  TRY(const std::string_view text, ReadString("justification", *value));
  if (text.find_first_not_of(" \t\n\r\v\f") == std::string_view::npos) {
    return Invalid("justification is blank; give a reason, or leave it out");
  }
  return std::string(text);
}

Result<std::vector<std::string>> ReadVariables(starlark::Budget& budget, const std::optional<starlark::Value>& value) {
  if (!value) return std::vector<std::string>();
  TRY(std::vector<std::string> names, ReadStrings(budget, "env", *value));
  for (const std::string& name : names) {
    if (!name.empty() && !name.contains('=') && !name.contains('\0')) continue;
    return Invalid(fmt::format("env has `{}`, which is not the name of a variable", name));
  }
  return names;
}

Result<> Definitions::RunFile(const starlark::Source& source, starlark::Budget& budget) {
  examples_.clear();
  const std::vector<starlark::HostFunction> host = HostFunctions(source);
  if (const auto run = starlark::Run(source, host, budget); !run) return Refused(run.error());
  for (const Examples& examples : examples_) {
    const Result<> verified = Verify(examples, budget);
    if (!verified) return Refused(starlark::DiagnosticAt(source, examples.position, verified.error().message));
  }
  return {};
}

std::vector<starlark::HostFunction> Definitions::HostFunctions(const starlark::Source& source) {
  using enum starlark::Presence;
  return {{.name = "prefix_rule",
           .parameters = {{"pattern"},
                          {"decision", kOptional},
                          {"match", kOptional},
                          {"not_match", kOptional},
                          {"justification", kOptional},
                          {"env", kOptional}},
           .call = [this, &source](const starlark::HostCall& call) { return DefinePrefixRule(source, call); }},
          {.name = "host_executable",
           .parameters = {{"name"}, {"paths"}},
           .call = [this](const starlark::HostCall& call) { return DefineHostExecutable(call); }},
          {.name = "network_rule",
           .parameters = {{"host"}, {"protocol"}, {"decision"}, {"justification", kOptional}},
           .call = [this](const starlark::HostCall& call) { return DefineNetworkRule(call); }}};
}

Result<> Definitions::DefinePrefixRule(const starlark::Source& source, const starlark::HostCall& call) {
  TRY(WordLists pattern, ReadPattern(call.budget, *call.arguments[0]));
  TRY(const Decision decision, ReadDecision(call.arguments[1]));
  TRY(WordLists match, ReadExamples(call.budget, "match", call.arguments[2]));
  TRY(WordLists not_match, ReadExamples(call.budget, "not_match", call.arguments[3]));
  TRY(const std::optional<std::string> justification, ReadJustification(call.arguments[4]));
  TRY(const std::vector<std::string> variables, ReadVariables(call.budget, call.arguments[5]));
  const std::vector<std::string> programs = std::move(pattern.front());
  pattern.erase(pattern.begin());
  const Size size = SizeOf(pattern, justification, variables, source);
  TRY_VOID(ChargeRules(call.budget, programs, pattern, size));
  if (!match.empty() || !not_match.empty()) {
    const size_t steps = 1 + programs.size() * (1 + size.words) / 8 + programs.size() * size.bytes / 256;
    examples_.push_back({rules.size(), programs.size(), steps, std::move(match), std::move(not_match), call.position});
  }
  for (const std::string& program : programs) {
    rules.push_back({.program = program,
                     .arguments = pattern,
                     .decision = decision,
                     .justification = justification,
                     .variables = variables,
                     .origin = {.file = std::string(source.name), .line = call.position.line}});
  }
  return {};
}

Result<> Definitions::DefineHostExecutable(const starlark::HostCall& call) {
  TRY(const std::string_view name, ReadString("name", *call.arguments[0]));
  TRY(const std::vector<std::string> paths, ReadStrings(call.budget, "paths", *call.arguments[1]));
  constexpr size_t kEntryBytes = 128, kEntrySteps = 30;
  TRY_VOID(call.budget.Take(name.size() + kEntryBytes));
  for (const std::string& path : paths) {
    TRY_VOID(call.budget.Spend(kEntrySteps + path.size() / 2));
    TRY_VOID(call.budget.Take(path.size() + kEntryBytes));
  }
  return host_executables.Define(std::string(name), paths);
}

Result<> Definitions::DefineNetworkRule(const starlark::HostCall& call) {
  TRY(const std::string_view host, ReadString("host", *call.arguments[0]));
  TRY(const std::string_view protocol, ReadString("protocol", *call.arguments[1]));
  TRY(const std::string_view decision, ReadString("decision", *call.arguments[2]));
  TRY_VOID(ReadJustification(call.arguments[3]));
  constexpr size_t kEntryBytes = 128;
  TRY_VOID(call.budget.Spend(kEntryBytes / 4 + host.size() / 4));
  TRY_VOID(call.budget.Take(kEntryBytes + 2 * host.size()));
  TRY(NetworkRule rule, ParseNetworkRule(host, protocol, decision));
  network_rules.push_back(std::move(rule));
  return {};
}

Result<> Definitions::Verify(const Examples& examples, starlark::Budget& budget) const {
  for (const std::vector<std::string>& command : examples.not_match) {
    TRY(const bool is_match, IsMatch(examples, command, budget));
    if (!is_match) continue;
    return Fail(ErrorKind::kInvalidParams,
                fmt::format("the rule matches the example `{}` of not_match", JoinWords(command)));
  }
  for (const std::vector<std::string>& command : examples.match) {
    TRY(const bool is_match, IsMatch(examples, command, budget));
    if (is_match) continue;
    return Fail(ErrorKind::kInvalidParams,
                fmt::format("the rule does not match the example `{}` of match", JoinWords(command)));
  }
  return {};
}

Result<bool> Definitions::IsMatch(const Examples& examples, const std::vector<std::string>& command,
                                  starlark::Budget& budget) const {
  TRY_VOID(budget.Spend(2 * examples.steps + 30));
  const auto of_call = std::span(rules).subspan(examples.first_rule, examples.rule_count);
  const auto arguments = std::span(command).subspan(1);
  if (AnyMatches(of_call, command[0], arguments)) return true;
  // A rules file does not know where it will be used: a relative program in an example is at no place that
  // host_executable() lists.
  const auto path = PathOfProgram(command[0], {.cwd = "/nowhere", .home = "/nowhere"});
  if (!path) return false;
  if (command[0].contains('/') && AnyMatches(of_call, *path, arguments)) return true;
  return host_executables.ListingOf(*path) != HostExecutables::Listing::kExcluded &&
         AnyMatches(of_call, NameOf(*path), arguments);
}

}  // namespace holdfast::exec_policy
