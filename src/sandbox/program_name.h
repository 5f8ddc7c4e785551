// The file name of the program that makes sandboxes. Whoever runs it takes the one beside its own program.
#pragma once

namespace holdfast::sandbox {

inline constexpr char kProgramName[] = "holdfast-linux-sandbox";

}  // namespace holdfast::sandbox
