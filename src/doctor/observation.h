// What a process can see and do of the restrictions on itself. Made outside and inside of a sandbox, two of them show
// what the sandbox enforces.
#pragma once

#include <optional>
#include <string>

namespace holdfast::doctor {

// Where it is tried to write; what is empty is not tried. Descriptor 0 is the file outside, open for reading.
struct Places {
  std::string outside_file, workspace;
};

struct Observation {
  std::string mount_namespace, pid_namespace, network_namespace;  // as the kernel names them
  bool has_filter = false, has_capabilities = false;
  std::optional<bool> writes_outside, writes_workspace;
  std::optional<bool> reopens_for_writing;  // descriptor 0, which mounts do not stop

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
