// Policies of the tables as the helper takes them.
#pragma once

#include <string>

#include "sandboxee/act.h"
#include "sandboxee/launch.h"
#include "sandboxee/surroundings.h"

namespace holdfast::sandboxee {

// The helper's flags up to the `--`.
Strings FlagsFor(Policy policy, const Places& places);

// What it finds in its environment besides PATH.
Strings EnvironmentFor(Policy policy, const Places& places);

}  // namespace holdfast::sandboxee
