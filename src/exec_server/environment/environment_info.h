// What a client learns about this machine when it connects.
#pragma once

#include "wire/session_messages.h"

namespace holdfast::exec_server {

wire::EnvironmentInfo DescribeEnvironment();

}  // namespace holdfast::exec_server
