// ServerAccess is the way by which clients reach the server. Sandboxed commands are kept away from it, because a
// command that could talk to the server could ask it for another command without a sandbox. They are kept away from the
// server's TLS key as well, because a command that has it could pretend to be the server.
#pragma once

#include <cstdint>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/owned_fd.h"
#include "base/result.h"

namespace holdfast::sandbox {

class ServerAccess {
 public:
  // A server on standard input and output cannot be reached by commands.
  ServerAccess() = default;

  // The server is reached by a unix socket, which is hidden in every sandbox.
  static ServerAccess OfSocket(const std::string& path);

  // The server is reached by a port that requires the secret of the URL, which no command gets.
  static ServerAccess OfSecret(std::string secret);

  // The server is reached by a port that requires no secret. A thread starts to make the ruleset that shuts the port
  // for a command with a network, because making it takes a while.
  static ServerAccess OfOpenPort(uint16_t port);

  // Adds a file that is hidden in every sandbox, such as the TLS key. It must exist.
  void Hide(const std::string& file);

  const std::vector<std::string>& hidden_files() const { return hidden_files_; }
  const std::string& secret() const { return secret_; }
  std::optional<uint16_t> open_port() const { return open_port_; }

  // Returns the port ruleset (sandbox/confine/port_ruleset.h) for a command with a network, or null where no port has
  // to be shut. Fails, with the remedy, where this machine cannot shut a port. Soon after the server's start this may
  // wait some 80 ms for the thread.
  Result<std::shared_ptr<const OwnedFd>> PortRuleset() const;

 private:
  using SharedRuleset = Result<std::shared_ptr<const OwnedFd>>;

  std::vector<std::string> hidden_files_;
  std::string secret_;
  std::optional<uint16_t> open_port_;
  std::shared_future<SharedRuleset> port_ruleset_;
};

}  // namespace holdfast::sandbox
