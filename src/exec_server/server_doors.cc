#include "exec_server/server_doors.h"

#include <utility>

#include <fmt/format.h>

#include "base/paths.h"
#include "sandbox/port_ruleset.h"
#include "sandbox/real_path.h"

namespace holdfast::exec_server {

// Without links on the way to it: one that a command could change would stop its start.
ServerDoors ServerDoors::OfSocket(const std::string& path) {
  ServerDoors doors;
  const auto directory = sandbox::RealPath(std::string(ParentOf(path)));
  doors.hidden_path_ = directory ? fmt::format("{}/{}", *directory == "/" ? "" : *directory, NameOf(path)) : path;
  return doors;
}

ServerDoors ServerDoors::OfSecret(std::string secret) {
  ServerDoors doors;
  doors.secret_ = std::move(secret);
  return doors;
}

ServerDoors ServerDoors::OfOpenPort(uint16_t port) {
  ServerDoors doors;
  doors.open_port_ = port;
  doors.port_ruleset_ = std::async(std::launch::async, [port]() -> Made {
    TRY(OwnedFd ruleset, sandbox::MakePortRuleset(port));
    return std::make_shared<const OwnedFd>(std::move(ruleset));
  });
  return doors;
}

Result<std::shared_ptr<const OwnedFd>> ServerDoors::PortRuleset() const {
  if (!port_ruleset_.valid()) return nullptr;
  const Made& made = port_ruleset_.get();
  if (made) return *made;
  return Fail(ErrorKind::kInvalidRequest,
              fmt::format("a sandboxed command with a network could reach the server's open port {}, and have it start "
                          "others without a sandbox: {}. Start the server with --ws-auth url-secret, or with "
                          "--insecure-no-auth if that may be",
                          *open_port_, made.error().message));
}

}  // namespace holdfast::exec_server
