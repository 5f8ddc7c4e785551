// The methods and notifications of the protocol as lists of types, and the names of the methods that a client can call
// once its session is open.
#pragma once

#include <array>

#include "wire/methods.h"

namespace holdfast::wire {

template <typename... Types>
struct TypeList {
  // Calls `function` with each type as its template argument.
  static void ForEach(auto function) { (function.template operator()<Types>(), ...); }

  template <template <typename...> typename Other>
  using As = Other<Types...>;
};

// The methods that a client can call once its session is open. Initialize opens it.
using SessionMethods =
    TypeList<GetEnvironmentInfo, GetEnvironmentStatus, ProcessStart, ProcessRead, ProcessWrite, ProcessCloseStdin,
             ProcessResize, ProcessSignal, ProcessTerminate, ProcessWait, ProcessSnapshot, ProcessList, FsReadFile,
             FsGetMetadata, FsCanonicalize, FsReadDirectory, FsWalk, FsWriteFile, FsCreateDirectory, FsRemove, FsCopy,
             FsRename, FsOpen, FsReadBlock, FsWriteBlock, FsClose, FsWatchMissing, DiscoverRoots, DiscoverCapabilities,
             ReadEnvironmentConfig, HttpRequest, SessionTakeOver, SessionKeep, SessionList, SessionEnd>;

using ServerMethods = TypeList<ExecApprove>;

using ClientNotifications = TypeList<Initialized>;

using ServerNotifications =
    TypeList<ProcessOutput, ProcessExited, ProcessClosed, ProcessStarted, ProcessFailed, ProcessOutputLost,
             SessionRoleChanged, SessionEnded, HttpBodyDelta, FsMissingChanged>;

template <typename... Methods>
constexpr auto NamesOf(TypeList<Methods...>) {
  return std::array{Methods::kName...};
}

inline constexpr auto kMethodNames = NamesOf(SessionMethods());

}  // namespace holdfast::wire
