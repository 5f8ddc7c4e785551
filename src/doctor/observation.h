// An observation is what a process finds out about the restrictions on itself. An observation outside of a sandbox and
// one inside show together what the sandbox enforces.
#pragma once

#include <optional>
#include <string>

namespace holdfast::doctor {

// The paths that an observation tries to write; an empty path is not tried. Descriptor 0 is `outside_file`, open for
// reading.
struct Places {
  std::string outside_file, workspace;
};

struct Observation {
  std::string mount_namespace, pid_namespace, network_namespace;  // the links in /proc/self/ns
  bool has_filter = false, has_capabilities = false;
  std::optional<bool> writes_outside, writes_workspace;
  std::optional<bool> reopens_for_writing;  // descriptor 0 could be opened again for writing, which mounts do not stop

  void Fields(auto& f) {
    f.Required("mountNamespace", mount_namespace);
    f.Required("pidNamespace", pid_namespace);
    f.Required("networkNamespace", network_namespace);
    f.Required("hasFilter", has_filter);
    f.Required("hasCapabilities", has_capabilities);
    f.Required("writesOutside", writes_outside);
    f.Required("writesWorkspace", writes_workspace);
    f.Required("reopensForWriting", reopens_for_writing);
  }
};

Observation Observe(const Places& places);

}  // namespace holdfast::doctor
