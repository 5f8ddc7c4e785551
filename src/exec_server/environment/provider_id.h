// The `providerId` identifies the build of this server. A client may use it to look up what is known about the build.
// It is an opaque text and proves nothing, because a server can send any text.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace holdfast::exec_server {

// Returns "sha256:" and 64 hex digits: a digest of the version and of the program's build id (base/build_id.h). The
// result is empty without a build id, because builds that cannot be told apart must not share an id.
std::optional<std::string> ProviderId(std::string_view version, std::string_view build_id);

}  // namespace holdfast::exec_server
