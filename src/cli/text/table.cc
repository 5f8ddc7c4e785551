#include "cli/text/table.h"

#include <algorithm>

#include <fmt/format.h>

namespace holdfast::cli {
namespace {

size_t WidthOf(const std::string& text) {
  return static_cast<size_t>(std::ranges::count_if(text, [](char c) { return (c & 0xc0) != 0x80; }));
}

}  // namespace

std::string TextTable::Text() const {
  std::vector<size_t> widths;
  for (const auto& row : rows_) {
    if (widths.size() < row.size()) widths.resize(row.size());
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], WidthOf(row[i]));
  }
  std::string text;
  for (const auto& row : rows_) {
    for (size_t i = 0; i < row.size(); ++i) {
      text += row[i];
      if (i + 1 < row.size()) text.append(widths[i] - WidthOf(row[i]) + 2, ' ');
    }
    text += '\n';
  }
  return text;
}

std::string Printable(const std::string& text) {
  std::string printable;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '\n') {
      printable += "\\n";
    } else if (byte < 0x20 || byte == 0x7f) {
      printable += fmt::format("\\x{:02x}", byte);
    } else {
      printable += c;
    }
  }
  return printable;
}

}  // namespace holdfast::cli
