// The service behind environment/info and environment/status.
#pragma once

#include <utility>

#include "rpc/reply.h"
#include "wire/session_messages.h"

namespace holdfast::exec_server {

class EnvironmentService {
 public:
  explicit EnvironmentService(wire::EnvironmentInfo info) : info_(std::move(info)) {}

  const wire::EnvironmentInfo& info() const { return info_; }

  void Info(const wire::EnvironmentParams&, rpc::Reply<wire::EnvironmentInfo> reply) { reply(info_); }

  // The status is always "ready": a client that can send this request is served.
  void Status(const wire::EnvironmentParams&, rpc::Reply<wire::EnvironmentStatusResult> reply) { reply({"ready"}); }

 private:
  const wire::EnvironmentInfo info_;
};

}  // namespace holdfast::exec_server
