// The choice whether a path may contain symbolic links, at its end or on the way.
#pragma once

#include "sys/open.h"

namespace holdfast::files {

enum class Symlinks { kFollow, kRefuse };

constexpr sys::Links LinksOf(Symlinks symlinks) {
  return symlinks == Symlinks::kFollow ? sys::Links::kFollow : sys::Links::kNone;
}

}  // namespace holdfast::files
