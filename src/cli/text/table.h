// A table of text in aligned columns, as `holdfast ps` and `holdfast ls -l` print it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace holdfast::cli {

class TextTable {
 public:
  // Adds a row. The cells may contain names and words of others, and are shown by ShownText. A colour is the escape
  // sequence that the last cell begins with.
  void Add(const std::vector<std::string>& row, std::string_view colour_of_last = "");

  // Returns one line per row. Each column but the last is as wide as its widest cell. Widths are counted in code
  // points.
  std::string Text() const;

 private:
  struct Row {
    std::vector<std::string> cells;
    std::string colour_of_last;
  };

  std::vector<Row> rows_;
};

inline constexpr std::string_view kBlue = "\x1b[34m";

// Returns a text of others by ShownText, and in a colour if one is given.
std::string Coloured(std::string_view text, std::string_view colour);

}  // namespace holdfast::cli
