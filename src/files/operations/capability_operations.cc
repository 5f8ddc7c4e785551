#include "files/operations/capability_operations.h"

#include <algorithm>
#include <string>
#include <utility>

#include "base/file_uri.h"
#include "files/capabilities/capability_reader.h"
#include "files/capabilities/scan_root.h"

namespace holdfast::files {

Result<Operation<wire::DiscoveredRoot>> PrepareScanRoot(const ScanRootParams& params) {
  TRY(std::string path, ParsePath(params.path));
  ScanRoom room;
  room.bytes = std::min<size_t>(room.bytes, params.max_bytes);
  auto scan = [id = params.id, path, room](const GuardedNames&) mutable -> Result<wire::DiscoveredRoot> {
    return ScanCapabilityRoot(std::move(id), path, room, CapabilityReader::Part::kWhole);
  };
  return Operation<wire::DiscoveredRoot>{{{path, Access::kRead}}, std::move(scan)};
}

Result<Operation<Installed>> PrepareFindInstalled(const InstalledPlaces& params) {
  auto find = [params](const GuardedNames&) -> Result<Installed> { return FindInstalled(params); };
  return Operation<Installed>{{}, std::move(find)};
}

}  // namespace holdfast::files
