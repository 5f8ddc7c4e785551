#include "client/server_traits.h"

#include "base/file_uri.h"

namespace holdfast::client {

std::string ServerTraits::PathText(const std::string& path) const {
  // A path that is not absolute is passed on, so that the server refuses it in its own words.
  return has_environment_info && path.starts_with('/') ? FileUri(path) : path;
}

}  // namespace holdfast::client
