#include "sandbox/launch/server_doors.h"

#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "base/paths.h"
#include "sandbox/confine/port_ruleset.h"
#include "sandbox/resolve/real_path.h"

namespace holdfast::sandbox {

// The path has no links in it: a link that a command could change would stop its start.
ServerDoors ServerDoors::OfSocket(const std::string& path) {
  ServerDoors doors;
  const auto directory = RealPath(std::string(ParentOf(path)));
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
  const auto make = [port]() -> Made {
    TRY(OwnedFd ruleset, MakePortRuleset(port));
    return std::make_shared<const OwnedFd>(std::move(ruleset));
  };
  try {
    doors.port_ruleset_ = std::async(std::launch::async, make);
  } catch (const std::system_error&) {  // there is no thread to be had: the first who needs it makes it
    doors.port_ruleset_ = std::async(std::launch::deferred, make);
  }
  return doors;
}

Result<std::shared_ptr<const OwnedFd>> ServerDoors::PortRuleset() const {
  if (!port_ruleset_.valid()) return nullptr;
  const Made& made = port_ruleset_.get();
  if (made) return *made;
  return Fail(ErrorKind::kInvalidRequest,
              fmt::format("a sandboxed command with a network could connect to the server's port {} and start commands "
                          "without a sandbox ({}). Start the server with --ws-auth url-secret, or with "
                          "--insecure-no-auth to accept that",
                          *open_port_, made.error().message));
}

}  // namespace holdfast::sandbox
