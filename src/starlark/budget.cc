#include "starlark/budget.h"

namespace holdfast::starlark {

std::unexpected<Error> Budget::OutOfSteps() { return Fail(ErrorKind::kLimit, "the program takes too many steps"); }

std::unexpected<Error> Budget::OutOfMemory() { return Fail(ErrorKind::kLimit, "the program needs too much memory"); }

}  // namespace holdfast::starlark
