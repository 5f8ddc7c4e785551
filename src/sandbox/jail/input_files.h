// Standard streams are opened again inside the sandbox when they are files open for reading, or devices that are in
// every /dev. The caller opened them on its own mounts, and through such a descriptor the command could change the
// mode, times and attributes of the file, whatever it was opened for.
//
// What it does not stop: such changes through a file that is open for writing or that has no name inside, or through a
// terminal, which is the caller's.
#pragma once

#include "base/result.h"

namespace holdfast::sandbox {

// Opens each file again by its name on the mounts of this process, at the same offset, if that name leads to the same
// file. Opens each device again by its name in /dev, and fails when the device is missing there.
Result<> ReopenStreams();

}  // namespace holdfast::sandbox
