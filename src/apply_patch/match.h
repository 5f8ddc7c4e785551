// The new content of a file, computed from its old content and the chunks of an update, without access to the disk.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "apply_patch/patch.h"
#include "base/result.h"

namespace holdfast::apply_patch {

// Returns the content with all chunks applied. The chunks must occur in the file in their order, and each is searched
// in the original lines. Lines that stay keep their bytes, even if a context line of the patch differs from them. Added
// lines get the same line end as the first line of the file.
Result<std::string> ApplyChunks(std::string_view content, std::span<const Chunk> chunks);

}  // namespace holdfast::apply_patch
