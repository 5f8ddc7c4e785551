// The environment policy of process/start: what a command gets of the server's environment.
#pragma once

#include <array>
#include <string>
#include <utility>
#include <vector>

#include "wire/field_types.h"

namespace holdfast::wire {

enum class Inherit { kAll, kCore, kNone };
template <>
struct EnumNames<Inherit> {
  static constexpr std::array<std::pair<const char*, Inherit>, 3> kNames{
      {{"all", Inherit::kAll}, {"core", Inherit::kCore}, {"none", Inherit::kNone}}};
};

struct EnvPolicy {
  Inherit inherit = Inherit::kNone;
  bool ignore_default_excludes = false;
  std::vector<std::string> exclude;
  StringMap set;
  std::vector<std::string> include_only;

  void Fields(auto& f) {
    f.Required("inherit", inherit);
    f.Required("ignoreDefaultExcludes", ignore_default_excludes);
    f.Required("exclude", exclude);
    f.Required("set", set);
    f.Required("includeOnly", include_only);
  }
};

}  // namespace holdfast::wire
