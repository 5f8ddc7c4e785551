#include "wire/indented_json.h"

#include <cstddef>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "wire/json_text.h"

namespace holdfast::wire {
namespace {

constexpr size_t kWidth = 120;

// `taken` is the width that the line has before the value.
std::string Text(Json json, size_t depth, size_t taken) {
  const size_t inside = 2 * (depth + 1);
  std::vector<std::string> elements;
  for (size_t i = 0; json.is_array() && i < json.size(); ++i) elements.push_back(Text(json.at(i), depth + 1, inside));
  json.ForEachMember([&](std::string_view key, Json value) {
    std::string element;
    AppendString(element, key);
    element += ": ";
    elements.push_back(element + Text(value, depth + 1, inside + element.size()));
  });
  if (elements.empty()) {
    std::string text;
    AppendJson(text, json);
    return text;
  }
  const auto [open, close] = json.is_array() ? std::pair('[', ']') : std::pair('{', '}');
  std::string line = fmt::format("{}{}{}", open, fmt::join(elements, ", "), close);
  if (taken + line.size() < kWidth && !line.contains('\n')) return line;
  const std::string indent(2 * depth, ' ');
  return fmt::format("{0}\n{1}  {2}\n{1}{3}", open, indent, fmt::join(elements, ",\n  " + indent), close);
}

}  // namespace

std::string IndentedJson(Json json) { return Text(json, 0, 0); }

}  // namespace holdfast::wire
