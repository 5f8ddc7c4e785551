// The table of file operations has each fs/* method that needs one step, with the function that prepares its operation.
// The server binds its methods by this table, and the file helper finds its operations in it.
#pragma once

#include <tuple>

#include "files/operations/operations.h"

namespace holdfast::files {

template <typename Params, typename T>
struct OperationRow {
  const char* method;
  Result<Operation<T>> (*prepare)(const Params& params);
};

// This row is not in kOperations, because the server answers fs/getMetadata without a worker if it can.
inline constexpr OperationRow kGetMetadata{"fs/getMetadata", PrepareGetMetadata};

// The part of fs/open and fs/readFile that a file helper does. The server then goes on with the open file.
inline constexpr OperationRow kOpen{"fs/open", PrepareOpen};

// The other operations are the same for the server and for the file helper.
inline constexpr std::tuple kOperations{
    OperationRow{"fs/writeFile", PrepareWriteFile},
    OperationRow{"fs/createDirectory", PrepareCreateDirectory},
    OperationRow{"fs/canonicalize", PrepareCanonicalize},
    OperationRow{"fs/readDirectory", PrepareReadDirectory},
    OperationRow{"fs/remove", PrepareRemove},
    OperationRow{"fs/copy", PrepareCopy},
    OperationRow{"fs/rename", PrepareRename},
    OperationRow{"fs/walk", PrepareWalk},
};

// Calls `visit` with each row of kOperations.
constexpr void ForEachOperation(auto visit) {
  std::apply([&](const auto&... row) { (visit(row), ...); }, kOperations);
}

}  // namespace holdfast::files
