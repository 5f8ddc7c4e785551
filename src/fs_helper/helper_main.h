// The file helper: does fs/* operations that it reads from standard input, inside a sandbox that others have built.
#pragma once

namespace holdfast::fs_helper {

// Until the end of standard input, a unix stream socket that is standard output as well. Gives the exit status.
int RunHelper();

}  // namespace holdfast::fs_helper
