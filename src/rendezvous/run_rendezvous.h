// RunRendezvous is a whole node as one call, for the program `holdfast` and for programs that embed a node.
#pragma once

#include "base/result.h"
#include "rendezvous/rendezvous_config.h"

namespace holdfast::rendezvous {

// Serves on this thread until SIGTERM or SIGINT arrives; a second signal ends the process at once. SIGHUP makes the
// node read its file of tokens at once. The call changes the whole process: SIGPIPE is ignored, the limit of open files
// is raised, the log is set up as the settings say, and the process cannot be traced or dumped any more, because tokens
// pass through its memory.
Result<> RunRendezvous(const RendezvousConfig& config, const OnListening& on_listening = {});

}  // namespace holdfast::rendezvous
