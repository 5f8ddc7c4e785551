// A ReceivedLaunch is a LaunchRequest as it has come to the launcher, with its descriptors.
#pragma once

#include <optional>
#include <vector>

#include "base/owned_fd.h"
#include "base/result.h"
#include "sandbox/native/launcher_protocol.h"

namespace holdfast::sandbox {

class ReceivedLaunch {
 public:
  // Waits for the next request. Returns nothing at the end of the socket. Fails with kInvalidRequest if the message is
  // no request: it has another length, another number of descriptors, or descriptors of another kind. All of these are
  // closed then, the control socket among them, and the next request can be received.
  static Result<std::optional<ReceivedLaunch>> Receive(int socket);

  const PlanKey& plan_key() const { return request_.plan_key; }
  int Get(LaunchDescriptor which) const { return fds_[static_cast<size_t>(which)].get(); }

  // The descriptor of the terminal, or -1.
  int terminal() const { return request_.has_terminal != 0 ? Get(LaunchDescriptor::kStdin) : -1; }
  std::optional<int> exec_supervisor() const {
    return request_.has_exec_supervisor != 0 ? std::optional(Get(LaunchDescriptor::kExecSupervisor)) : std::nullopt;
  }

 private:
  ReceivedLaunch(const LaunchRequest& request, std::vector<OwnedFd> fds) : request_(request), fds_(std::move(fds)) {}

  Result<> Check() const;

  LaunchRequest request_;
  std::vector<OwnedFd> fds_;
};

}  // namespace holdfast::sandbox
