// The operations behind capabilityRoots/discoverV1 and capabilities/discoverV2.
#pragma once

#include <cstdint>

#include "base/result.h"
#include "files/capabilities/installed.h"
#include "files/operations/operations.h"
#include "wire/capability_messages.h"

namespace holdfast::files {

struct ScanRootParams : wire::CapabilityRoot {
  uint64_t max_bytes = 0;  // of the result

  void Fields(auto& f) {
    CapabilityRoot::Fields(f);
    f.Required("maxBytes", max_bytes);
  }
};

Result<Operation<wire::DiscoveredRoot>> PrepareScanRoot(const ScanRootParams& params);
Result<Operation<Installed>> PrepareFindInstalled(const InstalledPlaces& params);

}  // namespace holdfast::files
