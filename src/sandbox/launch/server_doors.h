// The ways to talk to the server, which its sandboxed commands are kept away from: a command that could talk to the
// server would have it start another one without a sandbox.
#pragma once

#include <cstdint>
#include <future>
#include <memory>
#include <optional>
#include <string>

#include "base/owned_fd.h"
#include "base/result.h"

namespace holdfast::sandbox {

class ServerDoors {
 public:
  // A server on standard input and output has none.
  ServerDoors() = default;

  // A unix socket, which is hidden in every sandbox.
  static ServerDoors OfSocket(const std::string& path);

  // A port that asks for the secret of the URL: no command is told it.
  static ServerDoors OfSecret(std::string secret);

  // A port that asks for nothing. The kernel's rules that shut it for a command with a network take a moment to be
  // made: a thread begins to make them here.
  static ServerDoors OfOpenPort(uint16_t port);

  const std::string& hidden_path() const { return hidden_path_; }
  const std::string& secret() const { return secret_; }
  std::optional<uint16_t> open_port() const { return open_port_; }

  // sandbox/confine/port_ruleset.h, for a command with a network; null where no port has to be shut. Fails, with the
  // remedy, where this machine cannot shut it. Soon after the server's start it may wait for the thread, some 80 ms.
  Result<std::shared_ptr<const OwnedFd>> PortRuleset() const;

 private:
  using Made = Result<std::shared_ptr<const OwnedFd>>;

  std::string hidden_path_, secret_;
  std::optional<uint16_t> open_port_;
  std::shared_future<Made> port_ruleset_;
};

}  // namespace holdfast::sandbox
