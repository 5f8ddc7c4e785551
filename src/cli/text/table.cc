#include "cli/text/table.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/shown_text.h"

namespace holdfast::cli {
namespace {

size_t WidthOf(const std::string& text) {
  return static_cast<size_t>(std::ranges::count_if(text, [](char c) { return (c & 0xc0) != 0x80; }));
}

}  // namespace

void TextTable::Add(const std::vector<std::string>& row, std::string_view colour_of_last) {
  Row shown{.cells = {}, .colour_of_last = std::string(colour_of_last)};
  for (const std::string& cell : row) shown.cells.push_back(ShownText(cell));
  rows_.push_back(std::move(shown));
}

std::string TextTable::Text() const {
  std::vector<size_t> widths;
  for (const auto& [cells, colour] : rows_) {
    if (widths.size() < cells.size()) widths.resize(cells.size());
    for (size_t i = 0; i < cells.size(); ++i) widths[i] = std::max(widths[i], WidthOf(cells[i]));
  }
  std::string text;
  for (const auto& [cells, colour] : rows_) {
    for (size_t i = 0; i < cells.size(); ++i) {
      const bool is_last = i + 1 == cells.size();
      text += is_last ? Coloured(cells[i], colour) : cells[i];
      if (!is_last) text.append(widths[i] - WidthOf(cells[i]) + 2, ' ');
    }
    text += '\n';
  }
  return text;
}

std::string Coloured(std::string_view text, std::string_view colour) {
  return colour.empty() ? ShownText(text) : fmt::format("{}{}\x1b[0m", colour, ShownText(text));
}

}  // namespace holdfast::cli
