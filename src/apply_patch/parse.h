// The parser of patches: text in, a value out. Pure: no file is looked at.
#pragma once

#include <string_view>

#include "apply_patch/patch.h"
#include "base/result.h"

namespace holdfast::apply_patch {

// The envelope is checked first, then line after line; an error names the line. The patch points into `text`.
Result<Patch> ParsePatch(std::string_view text);

}  // namespace holdfast::apply_patch
