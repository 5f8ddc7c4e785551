#include "exec_policy/starlark/budget.h"

namespace holdfast::exec_policy {

std::unexpected<Error> Budget::OutOfSteps() { return Fail(ErrorKind::kLimit, "the program takes too many steps"); }

std::unexpected<Error> Budget::OutOfMemory() { return Fail(ErrorKind::kLimit, "the program needs too much memory"); }

}  // namespace holdfast::exec_policy
