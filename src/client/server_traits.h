// The facts that the library knows about its server. Servers of several versions speak the protocol, and differ
// in how they want paths and in the methods that they have.
#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "wire/session_messages.h"

namespace holdfast::client {

struct ServerTraits {
  // Servers before 0.142 have no environment/info. They take paths only as they are, and know no ids of writes.
  bool has_environment_info = true;
  std::optional<wire::EnvironmentInfo> environment = {};

  // Returns an absolute path in the form that this server understands.
  std::string PathText(const std::string& path) const;
  bool remembers_writes() const { return has_environment_info; }
  bool streams_uploads() const { return environment && environment->capabilities.file_write_streaming; }
  // The server goes on with uploads that were cut, and knows the permissions of files.
  bool updates_files() const { return streams_uploads() && environment->capabilities.file_update; }
};

}  // namespace holdfast::client
