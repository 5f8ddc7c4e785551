// What was found about one thing: whether it is there, and why not.
#pragma once

#include <array>
#include <string>
#include <utility>

#include "wire/field_types.h"

namespace holdfast::doctor {

// kMissing: this machine has none. kRefused: somebody forbids it. kBroken: it is there and does not do what it should.
enum class State { kOk, kMissing, kRefused, kBroken };

struct Finding {
  State state = State::kMissing;
  std::string detail = {};  // why not, or which

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
