// Standard streams that are files, open for reading. The caller opened them on mounts of its own, where their mode,
// times and attributes could be changed through the descriptor, whatever it was opened for.
//
// What it does not stop: the same through a stream that is open for writing, or whose file has no name inside.
#pragma once

namespace holdfast::sandbox {

// Opens each by its name on the mounts of this process, at the same offset, if that gives the same file.
void ReopenInputFiles();

}  // namespace holdfast::sandbox
