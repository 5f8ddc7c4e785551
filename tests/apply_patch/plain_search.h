// The same search as LineSearch, in its simplest form: it tries every place at every level.
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <span>
#include <string_view>

#include "apply_patch/line_search.h"

namespace holdfast::apply_patch {

inline std::optional<size_t> PlainFind(std::span<const std::string_view> lines,
                                       std::span<const std::string_view> wanted, size_t from) {
  for (const Likeness likeness : kLikenesses) {
    const auto alike = [likeness](std::string_view a, std::string_view b) { return AreAlike(a, b, likeness); };
    for (size_t start = from; start + wanted.size() <= lines.size(); ++start) {
      if (std::ranges::equal(lines.subspan(start, wanted.size()), wanted, alike)) return start;
    }
  }
  return std::nullopt;
}

}  // namespace holdfast::apply_patch
