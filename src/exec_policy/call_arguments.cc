#include "exec_policy/call_arguments.h"

#include <algorithm>
#include <span>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include "exec_policy/shell_words.h"
#include "starlark/description.h"
#include "starlark/list.h"

namespace holdfast::exec_policy {
namespace {

std::unexpected<Error> Invalid(std::string message) { return Fail(ErrorKind::kInvalidParams, std::move(message)); }

std::unexpected<Error> WrongType(std::string_view name, std::string_view wanted, const starlark::Value& value) {
  return Invalid(fmt::format("{} must be {}, but is {}, of type {}", name, wanted, starlark::Shown(value), starlark::TypeName(value)));
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

Result<std::vector<std::string>> ReadExample(starlark::Budget& budget, std::string_view name, const starlark::Value& value) {
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

}  // namespace

Result<std::string_view> ReadString(std::string_view name, const starlark::Value& value) {
  const auto* text = std::get_if<std::string_view>(&value);
  if (text == nullptr) return WrongType(name, "a string", value);
  return *text;
}

Result<std::vector<std::string>> ReadStrings(starlark::Budget& budget, std::string_view name, const starlark::Value& value) {
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

Result<WordLists> ReadExamples(starlark::Budget& budget, std::string_view name, const std::optional<starlark::Value>& value) {
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

}  // namespace holdfast::exec_policy
