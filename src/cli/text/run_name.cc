#include "cli/text/run_name.h"

#include <algorithm>
#include <array>
#include <random>

#include <fmt/format.h>

namespace holdfast::cli {
namespace {

constexpr auto kAdjectives = std::to_array<std::string_view>(
    {"able",  "bold",  "brave",  "brisk", "calm",  "clear", "crisp", "eager", "fair",  "fast",  "fine",
     "firm",  "fresh", "glad",   "grand", "green", "happy", "keen",  "kind",  "light", "lucky", "merry",
     "mild",  "neat",  "noble",  "plain", "proud", "quick", "quiet", "rapid", "ready", "sharp", "shiny",
     "smart", "solid", "steady", "still", "sunny", "swift", "tidy",  "warm",  "wide",  "wise",  "young"});

constexpr auto kNouns = std::to_array<std::string_view>(
    {"badger", "beaver", "bison",  "crane", "deer",    "dove",  "eagle", "falcon", "ferret", "finch",  "fox",
     "gecko",  "goose",  "hare",   "hawk",  "heron",   "horse", "ibex",  "jay",    "koala",  "lark",   "lynx",
     "magpie", "marten", "mole",   "moose", "newt",    "otter", "owl",   "panda",  "pike",   "puffin", "quail",
     "raven",  "robin",  "salmon", "seal",  "sparrow", "stork", "swan",  "tiger",  "trout",  "whale",  "wren"});

constexpr size_t kLongestName = 64;

bool IsAlphanumeric(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9'); }

}  // namespace

std::string RandomRunName() {
  std::random_device random;
  const auto pick = [&](size_t count) { return std::uniform_int_distribution<size_t>(0, count - 1)(random); };
  return fmt::format("{}-{}-{}", kAdjectives[pick(kAdjectives.size())], kNouns[pick(kNouns.size())], 10 + pick(990));
}

bool IsRunName(std::string_view name) {
  return !name.empty() && name.size() <= kLongestName && name != "." && name != ".." &&
         std::ranges::all_of(name, [](char c) { return IsAlphanumeric(c) || c == '.' || c == '_' || c == '-'; });
}

Result<> CheckRunName(std::string_view name) {
  if (IsRunName(name) && IsAlphanumeric(name.front())) return {};
  return Fail(
      ErrorKind::kInvalidParams,
      fmt::format("\"{}\" is not a name; a name has up to {} letters, digits, dots, dashes and underscores, and "
                  "begins with a letter or a digit",
                  name, kLongestName));
}

}  // namespace holdfast::cli
