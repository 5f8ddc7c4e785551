// The table of file operations: each fs/* method that is done in one go, with the function that prepares it. The server
// binds its methods by this table, and the file helper finds its operations in it.
#pragma once

#include <tuple>

#include "files/operations/operations.h"

namespace holdfast::files {

template <typename Params, typename T>
struct OperationRow {
  const char* method;
  Result<Operation<T>> (*prepare)(const Params& params);
};

// The server answers this one without a worker if it can.
inline constexpr OperationRow kGetMetadata{"fs/getMetadata", PrepareGetMetadata};

// The helper's half of the server's fs/open and fs/readFile, which both go on with the open file.
inline constexpr OperationRow kOpen{"fs/open", PrepareOpen};

// The others are the same for both.
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
