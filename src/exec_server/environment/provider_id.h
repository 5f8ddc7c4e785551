// The build of this server as clients see it: `providerId`, by which a client may look up what is known of a build. It
// is opaque, and no proof of anything: a server can say what it likes.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace holdfast::exec_server {

// "sha256:" and 64 hex digits, of the version and the program's build id (base/build_id.h). Absent without a build id:
// builds that cannot be told apart have no name.
std::optional<std::string> ProviderId(std::string_view version, std::string_view build_id);

}  // namespace holdfast::exec_server
