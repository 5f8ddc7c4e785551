// Descriptors are close-on-exec from birth. This function makes an exception for one that the next program needs.
#pragma once

#include "base/result.h"

namespace holdfast::sys {

// Lets programs that this process executes, or that its children execute, inherit the descriptor.
Result<> LetInherit(int fd);

}  // namespace holdfast::sys
