#include "cli/text/duration.h"

#include <array>
#include <cstdint>

#include <fmt/format.h>

#include "base/parse_number.h"

namespace holdfast::cli {
namespace {

struct Unit {
  std::string_view name;
  int64_t ms;
};

constexpr auto kUnits =
    std::to_array<Unit>({{"d", 86'400'000}, {"h", 3'600'000}, {"m", 60'000}, {"s", 1'000}, {"ms", 1}});
constexpr int64_t kLongestMs = 3'650 * kUnits[0].ms;  // ten years

std::unexpected<Error> NoDuration(std::string_view text) {
  return Fail(ErrorKind::kInvalidParams, fmt::format("\"{}\" is not a time; write it as 90s, 5m or 1h30m", text));
}

}  // namespace

Result<std::chrono::milliseconds> ParseDuration(std::string_view text) {
  constexpr std::string_view digits = "0123456789";
  int64_t total = 0;
  size_t next_unit = 0;
  std::string_view rest = text;
  do {
    const size_t number_end = std::min(rest.find_first_not_of(digits), rest.size());
    const auto number = ParseNumber<int64_t>(rest.substr(0, number_end));
    rest.remove_prefix(number_end);
    const size_t unit_end = std::min(rest.find_first_of(digits), rest.size());
    std::string_view name = rest.substr(0, unit_end);
    if (name.empty() && number_end == text.size()) name = "s";
    rest.remove_prefix(unit_end);
    while (next_unit < kUnits.size() && kUnits[next_unit].name != name) ++next_unit;
    if (!number || next_unit == kUnits.size() || *number > kLongestMs / kUnits[next_unit].ms) return NoDuration(text);
    total += *number * kUnits[next_unit++].ms;
  } while (!rest.empty());
  if (total > kLongestMs) return NoDuration(text);
  return std::chrono::milliseconds(total);
}

std::string DurationText(std::chrono::milliseconds duration) {
  int64_t left = duration.count();
  for (size_t i = 0; i + 1 < kUnits.size(); ++i) {
    if (left < kUnits[i].ms) continue;
    const int64_t smaller = i + 2 < kUnits.size() ? left % kUnits[i].ms / kUnits[i + 1].ms : 0;
    std::string text = fmt::format("{}{}", left / kUnits[i].ms, kUnits[i].name);
    return smaller == 0 ? text : text + fmt::format(" {}{}", smaller, kUnits[i + 1].name);
  }
  return fmt::format("{}ms", left);
}

}  // namespace holdfast::cli
