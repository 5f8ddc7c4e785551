#include "cli/local/evaluation_json.h"

#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

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

}  // namespace

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

}  // namespace holdfast::cli
