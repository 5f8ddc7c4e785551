// ReadEnvironmentConfig makes the answer to environmentConfig/read.
#pragma once

#include <string>

#include "base/result.h"
#include "wire/environment_config_messages.h"

namespace holdfast::exec_server {

struct UserPlaces {
  std::string user_home;
  std::string system;
};

Result<> CheckEnvironmentConfigParams(const wire::ReadEnvironmentConfigParams& params);

// `cwd` is the directory that the params name. This function reads files, and may block.
Result<wire::ReadEnvironmentConfigResult> ReadEnvironmentConfig(const wire::ReadEnvironmentConfigParams& params,
                                                                const std::string& cwd, const UserPlaces& places);

}  // namespace holdfast::exec_server
