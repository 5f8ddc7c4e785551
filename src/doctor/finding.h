// A finding says whether this machine has one thing that the sandbox uses, and if not, why.
#pragma once

#include <array>
#include <string>
#include <utility>

#include "wire/field_types.h"

namespace holdfast::doctor {

// kMissing: this machine does not have it. kRefused: the machine has it, but its use is forbidden or fails. kBroken: it
// can be used, but does not do what it should.
enum class State { kOk, kMissing, kRefused, kBroken };

struct Finding {
  State state = State::kMissing;
  std::string detail = {};  // the reason if the state is not kOk, or further information

  void Fields(auto& f) {
    f.Required("state", state);
    f.Required("detail", detail);
  }
};

}  // namespace holdfast::doctor

namespace holdfast::wire {

template <>
struct EnumNames<doctor::State> {
  static constexpr std::array<std::pair<const char*, doctor::State>, 4> kNames = {{
      {"ok", doctor::State::kOk},
      {"missing", doctor::State::kMissing},
      {"refused", doctor::State::kRefused},
      {"broken", doctor::State::kBroken},
  }};
};

}  // namespace holdfast::wire
