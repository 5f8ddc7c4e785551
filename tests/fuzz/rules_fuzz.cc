// A whole rules file. Any bytes are refused with a reason that names the file, or become a policy. Commands made from
// the words of the text are evaluated; each match says the truth about its command, and its rule can be written down
// and matches the command again.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/utf8.h"
#include "exec_policy/dangerous.h"
#include "exec_policy/explain.h"
#include "exec_policy/policy.h"
#include "exec_policy/rule.h"
#include "exec_policy/shell_words.h"

namespace {

using namespace holdfast;
using namespace holdfast::exec_policy;

constexpr size_t kMaxCommands = 50;

// Limits that let an endless loop end soon.
constexpr starlark::Limits kLimits = {.steps = 20'000, .memory_bytes = size_t{8} << 20};

Policy MustParse(std::string text) {
  const std::vector<RulesText> files = {{"again.rules", std::move(text)}};
  auto policy = Policy::Parse(files);
  CHECK(policy.has_value());
  return *std::move(policy);
}

void Use(const Evaluation& evaluation, std::span<const std::string> command) {
  CHECK(evaluation.matches.empty() == !evaluation.decision);
  CHECK(!Explain(evaluation, command).empty());
  for (const RuleMatch& match : evaluation.matches) {
    CHECK(match.decision <= evaluation.decision);
    CHECK(match.matched_prefix.size() <= command.size());
    CHECK(std::ranges::equal(match.matched_prefix, command.first(match.matched_prefix.size())));
    CHECK(match.origin.file == "f.rules" && match.origin.line > 0);
  }
  if (evaluation.matches.empty()) return;
  const RuleMatch& first = evaluation.matches.front();
  if (!std::ranges::all_of(first.matched_prefix, IsUtf8)) return;
  CHECK(MustParse(RuleText(first.matched_prefix, first.decision)).Evaluate(command).decision == first.decision);
}

// Returns the texts between quotes.
std::vector<std::string> QuotedWords(std::string_view text) {
  std::vector<std::string> words;
  for (size_t at = 0; words.size() < kMaxCommands;) {
    const size_t begin = text.find_first_of("'\"", at);
    const size_t end = begin == std::string_view::npos ? begin : text.find(text[begin], begin + 1);
    if (end == std::string_view::npos) return words;
    words.emplace_back(text.substr(begin + 1, end - begin - 1));
    at = end + 1;
  }
  return words;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  const std::string text(reinterpret_cast<const char*>(bytes), size);
  if (const auto words = SplitWords(text)) (void)IsDangerous(*words);  // it only must not crash
  const std::vector<RulesText> files = {{"f.rules", text}};
  const auto policy = Policy::Parse(files, kLimits);
  if (!policy) {
    CHECK(policy.error().message.contains("f.rules"));
    return 0;
  }
  const std::vector<std::string> words = QuotedWords(text);
  for (size_t i = 0; i < words.size(); ++i) {
    const auto command = std::span(words).subspan(i);
    Use(policy->Evaluate(command), command);
  }
  return 0;
}
