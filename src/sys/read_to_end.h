// ReadToEnd reads a text whose length is not known, from a file or a pipe.
#pragma once

#include <cstddef>
#include <string>

#include "base/result.h"

namespace holdfast::sys {

// Reads from the offset of `fd` to its end. Fails with kLimit if the text has more than `max_bytes`. Errors call the
// file by `name`.
Result<std::string> ReadToEnd(int fd, size_t max_bytes, const std::string& name);

}  // namespace holdfast::sys
