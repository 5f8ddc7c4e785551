#include "cli/text/byte_count.h"

#include <array>
#include <string_view>

#include <fmt/format.h>

namespace holdfast::cli {

std::string ByteCountText(uint64_t bytes) {
  constexpr auto units = std::to_array<std::string_view>({"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"});
  size_t unit = 0;
  auto amount = static_cast<double>(bytes);
  while (amount >= 999.5 && unit + 1 < units.size()) {
    amount /= 1024;
    ++unit;
  }
  const bool whole = unit == 0 || amount >= 99.95;
  return whole ? fmt::format("{:.0f} {}", amount, units[unit]) : fmt::format("{:.1f} {}", amount, units[unit]);
}

}  // namespace holdfast::cli
