// The names by which the programs of a sandbox are started.
#pragma once

namespace holdfast::sandbox {

// The file name of the helper. The server and `holdfast sandbox` start the helper in the directory of their own
// program.
inline constexpr char kProgramName[] = "holdfast-linux-sandbox";

// The first argument of the helper when it is started as the inner stage. The second argument is the number of the
// descriptor from which the inner stage reads its orders.
inline constexpr char kInnerStage[] = "inner-stage";

// The first argument of the helper when it is started as a jail. The other arguments are the numbers of the descriptors
// in JailFd (native/jail_process.h).
inline constexpr char kJail[] = "jail";

}  // namespace holdfast::sandbox
