// The names that the programs of a sandbox are started by.
#pragma once

namespace holdfast::sandbox {

// The file name of the helper. The server and `holdfast sandbox` take the one beside their own program.
inline constexpr char kProgramName[] = "holdfast-linux-sandbox";

// The first argument of the helper when it is started inside a sandbox; the second is the number of a descriptor with
// its orders.
inline constexpr char kInnerStage[] = "inner-stage";

}  // namespace holdfast::sandbox
