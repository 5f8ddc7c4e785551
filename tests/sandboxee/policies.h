// The policies of the tables as flags and variables of the helper.
#pragma once

#include <string>

#include "sandboxee/act.h"
#include "sandboxee/launch.h"
#include "sandboxee/surroundings.h"

namespace holdfast::sandboxee {

// Returns the helper's flags up to the `--`.
Strings FlagsFor(Policy policy, const Places& places);

// Returns the helper's environment, except for PATH.
Strings EnvironmentFor(Policy policy, const Places& places);

}  // namespace holdfast::sandboxee
