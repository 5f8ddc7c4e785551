// Copies what is in a regular file, in the kernel where that is possible. Holes stay holes.
#pragma once

namespace holdfast::files {

// `to` is empty. 0 or -errno, with what was written until then left there.
int CopyContents(int from, int to);

}  // namespace holdfast::files
