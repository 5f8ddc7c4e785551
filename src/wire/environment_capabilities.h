// The capabilities of a server, as a part of its description.
#pragma once

#include <string>
#include <vector>

namespace holdfast::wire {

// The features of this server beyond the methods that every server has. A client does not use a feature that is not
// announced.
struct EnvironmentCapabilities {
  bool fs_watch_missing = false, http_header_env_vars = false, file_write_streaming = false;
  bool sandboxed_file_streaming = false;
  // The roots of capabilityRoots/discoverV1 may have a sandbox; the server has the method that each of the others
  // names.
  bool capability_discovery_sandbox = false, capability_discovery_v2 = false, environment_config_read = false;
  bool exec_policy = false;         // process/start accepts execPolicy
  bool file_update = false;         // fs/open has the mode update, and files have permissions
  std::vector<std::string> limits;  // the members of `limits` that process/start accepts
  // These two concern sandboxes in which / may be written: the usual devices work, and what other rules deny stays
  // denied.
  bool linux_root_write_preserves_devices = false, linux_approved_root_write_preserves_restrictions = false;

  void Fields(auto& f) {
    f.Optional("fsWatchMissing", fs_watch_missing);
    f.Optional("httpHeaderEnvVars", http_header_env_vars);
    f.Optional("fileWriteStreaming", file_write_streaming);
    f.Optional("sandboxedFileStreaming", sandboxed_file_streaming);
    f.Optional("capabilityDiscoverySandbox", capability_discovery_sandbox);
    f.Optional("capabilityDiscoveryV2", capability_discovery_v2);
    f.Optional("environmentConfigRead", environment_config_read);
    f.Optional("linuxRootWritePreservesDevices", linux_root_write_preserves_devices);
    f.Optional("linuxApprovedRootWritePreservesRestrictions", linux_approved_root_write_preserves_restrictions);
    f.Optional("execPolicy", exec_policy);
    f.Optional("fileUpdate", file_update);
    f.Optional("limits", limits);
  }
};

}  // namespace holdfast::wire
