// The table of file operations has each fs/* method that needs one step, with the function that prepares its operation.
// The server binds its methods by this table, and the file helper finds its operations in it.
#pragma once

#include <tuple>

#include "files/operations/operations.h"
#include "wire/methods.h"

namespace holdfast::files {

template <typename MethodType, typename Params, typename T>
struct OperationRow {
  using Method = MethodType;
  static constexpr const char* method = Method::kName;

  Result<Operation<T>> (*prepare)(const Params& params);
};

template <typename Method, typename Params, typename T>
constexpr OperationRow<Method, Params, T> RowOf(Result<Operation<T>> (*prepare)(const Params&)) {
  return {prepare};
}

// This row is not in kOperations, because the server answers fs/getMetadata without a worker if it can.
inline constexpr auto kGetMetadata = RowOf<wire::FsGetMetadata>(PrepareGetMetadata);

// The part of fs/open and fs/readFile that a file helper does. The server then goes on with the open file.
inline constexpr auto kOpen = RowOf<wire::FsOpen>(PrepareOpen);

// The parts of capabilityRoots/discoverV1, one for each root, and of capabilities/discoverV2 that a file helper does.
inline constexpr auto kScanRoot = RowOf<wire::DiscoverRoots>(PrepareScanRoot);
inline constexpr auto kFindInstalled = RowOf<wire::DiscoverCapabilities>(PrepareFindInstalled);

// The other operations are the same for the server and for the file helper.
inline constexpr std::tuple kOperations{
    RowOf<wire::FsWriteFile>(PrepareWriteFile),
    RowOf<wire::FsCreateDirectory>(PrepareCreateDirectory),
    RowOf<wire::FsCanonicalize>(PrepareCanonicalize),
    RowOf<wire::FsReadDirectory>(PrepareReadDirectory),
    RowOf<wire::FsRemove>(PrepareRemove),
    RowOf<wire::FsCopy>(PrepareCopy),
    RowOf<wire::FsRename>(PrepareRename),
    RowOf<wire::FsWalk>(PrepareWalk),
};

// Calls `visit` with each row of kOperations.
constexpr void ForEachOperation(auto visit) {
  std::apply([&](const auto&... row) { (visit(row), ...); }, kOperations);
}

}  // namespace holdfast::files
