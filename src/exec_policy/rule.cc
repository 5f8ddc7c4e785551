#include "exec_policy/rule.h"

#include <algorithm>
#include <cstddef>

#include <fmt/format.h>

namespace holdfast::exec_policy {
namespace {

void AppendQuoted(std::string& out, std::string_view text) {
  out += '"';
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (c == '\n') {
      out += "\\n";
    } else if (c == '\t') {
      out += "\\t";
    } else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
      out += fmt::format("\\x{:02x}", static_cast<unsigned>(c));
    } else {
      out += c;
    }
  }
  out += '"';
}

}  // namespace

bool MatchesArguments(const Rule& rule, std::span<const std::string> arguments) {
  if (arguments.size() < rule.arguments.size()) return false;
  for (size_t i = 0; i < rule.arguments.size(); ++i) {
    if (std::ranges::find(rule.arguments[i], arguments[i]) == rule.arguments[i].end()) return false;
  }
  return true;
}

RuleMatch MatchOf(const Rule& rule, std::span<const std::string> arguments) {
  RuleMatch match{.matched_prefix = {},
                  .decision = rule.decision,
                  .justification = rule.justification,
                  .variables = rule.variables,
                  .origin = rule.origin};
  match.matched_prefix.reserve(1 + rule.arguments.size());
  match.matched_prefix.push_back(rule.program);
  const auto words = arguments.first(rule.arguments.size());
  match.matched_prefix.insert(match.matched_prefix.end(), words.begin(), words.end());
  return match;
}

std::string RuleText(std::span<const std::string> prefix, Decision decision) {
  std::string text = "prefix_rule(pattern=[";
  for (size_t i = 0; i < prefix.size(); ++i) {
    if (i > 0) text += ", ";
    AppendQuoted(text, prefix[i]);
  }
  text += fmt::format("], decision=\"{}\")", WordOf(decision));
  return text;
}

std::string RuleText(const RuleMatch& match) {
  return fmt::format("{} at {}:{}", RuleText(match.matched_prefix, match.decision), match.origin.file,
                     match.origin.line);
}

}  // namespace holdfast::exec_policy
