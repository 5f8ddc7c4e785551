// Standard streams that the caller opened on mounts of its own, where mode, times and attributes of the file could be
// changed through the descriptor, whatever it was opened for: files that are open for reading, and the devices that are
// in every /dev.
//
// What it does not stop: the same through a file that is open for writing, or that has no name inside; through a
// terminal, which is the caller's.
#pragma once

#include "base/result.h"

namespace holdfast::sandbox {

// Opens each file by its name on the mounts of this process, at the same offset, if that gives the same file, and each
// device by the name that it has in /dev. Fails without that device.
Result<> ReopenStreams();

}  // namespace holdfast::sandbox
