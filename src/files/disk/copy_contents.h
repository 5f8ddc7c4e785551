// Copies the contents of a regular file, inside the kernel if possible. Holes stay holes.
#pragma once

namespace holdfast::files {

// Copies all of `from` to `to`, which must be empty. Returns 0 or -errno; after an error the part that was written
// stays.
int CopyContents(int from, int to);

}  // namespace holdfast::files
