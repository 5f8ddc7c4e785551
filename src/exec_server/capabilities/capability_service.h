// The service behind capabilityRoots/discoverV1, capabilities/discoverV2 and environmentConfig/read, by which a client
// learns which skills, plugins and settings this machine has. It checks the params on the loop, and a file worker does
// the work.
#pragma once

#include <string>
#include <utility>

#include "exec_server/files/file_attachment.h"
#include "exec_server/files/file_requests.h"
#include "rpc/reply.h"
#include "wire/capability_messages.h"
#include "wire/environment_config_messages.h"
#include "wire/installed_messages.h"
#include "wire/sandbox_messages.h"

namespace holdfast::exec_server {

class CapabilityService {
 public:
  struct Places {
    std::string server_cwd;  // the base of a sandbox whose request names no directory
    std::string user_home;
    std::string system = "/etc/codex";
  };

  CapabilityService(FileRequests& requests, Places places) : requests_(requests), places_(std::move(places)) {}

  void DiscoverRoots(FileAttachment& attachment, const wire::DiscoverRootsParams& params,
                     rpc::Reply<wire::DiscoverRootsResult> reply);
  void Discover(FileAttachment& attachment, const wire::Sandboxed<wire::DiscoverCapabilitiesParams>& params,
                rpc::Reply<wire::DiscoverCapabilitiesResult> reply);
  void ReadConfig(FileAttachment& attachment, const wire::ReadEnvironmentConfigParams& params,
                  rpc::Reply<wire::ReadEnvironmentConfigResult> reply);

 private:
  FileRequests& requests_;
  const Places places_;
};

}  // namespace holdfast::exec_server
