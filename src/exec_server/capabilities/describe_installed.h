// DescribeInstalled makes the answer to capabilities/discoverV2 of the files that were found.
#pragma once

#include "files/capabilities/installed.h"
#include "wire/installed_messages.h"

namespace holdfast::exec_server {

// Skills and plugins whose files make no sense are left out, with one warning for each place. The warnings do not name
// the files, because a client may show them to a model.
wire::DiscoverCapabilitiesResult DescribeInstalled(files::Installed installed);

}  // namespace holdfast::exec_server
