// A step is the work of a file request as a worker does it: in the server itself, or, under a sandbox, through a file
// helper.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"
#include "files/disk/file.h"
#include "files/operations/operations.h"
#include "files/workers/helper_use.h"
#include "wire/encode.h"
#include "wire/fs_handle_messages.h"

namespace holdfast::files {

// A step appends the JSON of the result to `json`, which may have at most `allowed` bytes. It returns zero when it is
// done. Otherwise it returns how many bytes it needs, and is called again when it may have them. The first call of a
// step under a sandbox gets a file helper; if that one is stale, the step is called again with another one. In all
// other calls `helper` is null.
using FileStep = std::move_only_function<Result<size_t>(HelperUse* helper, std::string& json, size_t allowed)>;

// The part of a step that uses an open file. It is called like a step.
using FileUse = std::move_only_function<Result<size_t>(File& file, std::string& json, size_t allowed)>;

// Returns a step that calls `work` in the server and encodes its result.
template <typename T>
FileStep EncodingStep(std::move_only_function<Result<T>()> work) {
  return [work = std::move(work)](HelperUse*, std::string& json, size_t) mutable -> Result<size_t> {
    TRY(T result, work());
    wire::Encoder(json).Value(result);
    return 0;
  };
}

// Returns a step that has a file helper do the operation.
FileStep CallStep(std::string_view operation, std::string params_json);

// Returns a step that opens a file, and calls `use` with it on the same worker. `opening` was prepared from `params`,
// which are sent to the file helper under a sandbox.
FileStep OpenStep(Operation<File> opening, wire::FsOpenFileParams params, FileUse use);

}  // namespace holdfast::files
