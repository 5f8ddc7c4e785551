// The names of the methods that a client can call once its session is open.
#pragma once

#include <array>

#include "wire/methods.h"

namespace holdfast::wire {

template <typename... Methods>
constexpr auto NamesOf() {
  return std::array{Methods::kName...};
}

inline constexpr auto kMethodNames =
    NamesOf<GetEnvironmentInfo, GetEnvironmentStatus, ProcessStart, ProcessRead, ProcessWrite, ProcessCloseStdin,
            ProcessResize, ProcessSignal, ProcessTerminate, ProcessWait, ProcessSnapshot, ProcessList, FsReadFile,
            FsGetMetadata, FsCanonicalize, FsReadDirectory, FsWalk, FsWriteFile, FsCreateDirectory, FsRemove, FsCopy,
            FsRename, FsOpen, FsReadBlock, FsWriteBlock, FsClose, FsWatchMissing, DiscoverRoots, DiscoverCapabilities,
            ReadEnvironmentConfig, HttpRequest, SessionTakeOver, SessionKeep, SessionList, SessionEnd>();

}  // namespace holdfast::wire
