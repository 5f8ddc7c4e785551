// The new content of a file, worked out from its old content and the chunks of an update. Pure.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "apply_patch/patch.h"
#include "base/result.h"

namespace holdfast::apply_patch {

// Chunks are found in the order of the file, all in the original lines. Lines that stay keep their bytes, however
// loosely a context line has matched; added lines get the line end that the file begins with.
Result<std::string> ApplyChunks(std::string_view content, std::span<const Chunk> chunks);

}  // namespace holdfast::apply_patch
