// A table of text in aligned columns, as `holdfast ps` and `holdfast ls -l` print it.
#pragma once

#include <string>
#include <vector>

namespace holdfast::cli {

class TextTable {
 public:
  void Add(std::vector<std::string> row) { rows_.push_back(std::move(row)); }

  // Returns one line per row. Each column but the last is as wide as its widest cell. Widths are counted in code
  // points.
  std::string Text() const;

 private:
  std::vector<std::vector<std::string>> rows_;
};

// Returns the text with each control character shown as an escape (\n, \x1b), so that it cannot disturb a terminal.
std::string Printable(const std::string& text);

}  // namespace holdfast::cli
