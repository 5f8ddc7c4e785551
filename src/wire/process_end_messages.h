// The limits of a process, a member of process/start, and the end that a server has put to a process, a member of
// everything that tells its exit.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "wire/encode.h"

namespace holdfast::wire {

// A member that is not understood is refused, because the process would run without that limit.
struct Limits {
  std::optional<uint64_t> wall_ms = {};  // the time from the start until the server ends the process

  void Fields(auto& f) {
    if constexpr (requires { f.RefuseUnknown(); }) f.RefuseUnknown();
    f.Optional("wallMs", wall_ms);
  }
};

// Why a server has ended a process on its own account.
enum class EndCause {
  kWall,           // the time limit was reached
  kSessionEnded,   // a client has ended the session, or no client has come back to it
  kServerStopped,  // the server was told to stop
};
template <>
struct EnumNames<EndCause> {
  static constexpr std::array<std::pair<const char*, EndCause>, 3> kNames{
      {{"wall", EndCause::kWall},
       {"session-ended", EndCause::kSessionEnded},
       {"server-stopped", EndCause::kServerStopped}}};
};

struct ProcessEnd {
  std::optional<EndCause> cause = {};  // nothing if it is one that this program does not know

  void Fields(auto& f) {
    if constexpr (requires { f.object(); }) {
      std::string name;
      f.Required("cause", name);
      for (const auto& [known, value] : EnumNames<EndCause>::kNames) {
        if (name == known) cause = value;
      }
    } else {
      f.Optional("cause", cause);
    }
  }
};

}  // namespace holdfast::wire
