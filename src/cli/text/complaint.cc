#include "cli/text/complaint.h"

#include <algorithm>
#include <cstdio>
#include <string>

#include <fmt/format.h>

#include "base/shown_text.h"

namespace holdfast::cli {

void PrintComplaint(std::string_view who, std::string_view message) {
  std::string line = fmt::format("{}: {}", who, message);
  std::ranges::replace(line, '\n', ' ');
  line = ShownText(line) + "\n";
  (void)std::fputs(line.c_str(), stderr);  // if this fails, there is no other way to tell the user
}

}  // namespace holdfast::cli
