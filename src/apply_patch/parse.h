// The parser of patches, which makes a value from a text and looks at no file.
#pragma once

#include <string_view>

#include "apply_patch/patch.h"
#include "base/result.h"

namespace holdfast::apply_patch {

// Checks the envelope first, then one line after the other; an error names the line. The patch refers to `text`, which
// must outlive it.
Result<Patch> ParsePatch(std::string_view text);

}  // namespace holdfast::apply_patch
