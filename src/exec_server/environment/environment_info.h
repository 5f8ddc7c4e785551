// DescribeEnvironment returns the description of this machine that a client gets when it connects.
#pragma once

#include "wire/session_messages.h"

namespace holdfast::exec_server {

wire::EnvironmentInfo DescribeEnvironment();

}  // namespace holdfast::exec_server
