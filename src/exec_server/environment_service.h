// environment/info and environment/status.
#pragma once

#include "exec_server/runtime.h"
#include "exec_server/session.h"
#include "rpc/reply.h"
#include "wire/session_messages.h"

namespace holdfast::exec_server {

class EnvironmentService {
 public:
  explicit EnvironmentService(const Runtime& runtime) : runtime_(runtime) {}

  void Info(Session&, const wire::EnvironmentParams&, rpc::Reply<wire::EnvironmentInfo> reply) {
    reply(runtime_.environment_info);
  }

  // Whoever can ask is served.
  void Status(Session&, const wire::EnvironmentParams&, rpc::Reply<wire::EnvironmentStatusResult> reply) {
    reply({"ready"});
  }

 private:
  const Runtime& runtime_;
};

}  // namespace holdfast::exec_server
