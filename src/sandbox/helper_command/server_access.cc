#include "sandbox/helper_command/server_access.h"

#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "base/paths.h"
#include "sandbox/confine/port_ruleset.h"
#include "sandbox/resolve/real_path.h"

namespace holdfast::sandbox {

// A hidden path has no links in it, because a command could change a link, and then no sandbox would start.
ServerAccess ServerAccess::OfSocket(const std::string& path) {
  ServerAccess access;
  const auto directory = RealPath(std::string(ParentOf(path)));
  access.hidden_files_ = {directory ? fmt::format("{}/{}", *directory == "/" ? "" : *directory, NameOf(path)) : path};
  return access;
}

void ServerAccess::Hide(const std::string& file) { hidden_files_.push_back(RealPath(file).value_or(file)); }

ServerAccess ServerAccess::OfSecret(std::string secret) {
  ServerAccess access;
  access.secret_ = std::move(secret);
  return access;
}

ServerAccess ServerAccess::OfOpenPort(uint16_t port) {
  ServerAccess access;
  access.open_port_ = port;
  const auto make = [port]() -> SharedRuleset {
    TRY(OwnedFd ruleset, MakePortRuleset(port));
    return std::make_shared<const OwnedFd>(std::move(ruleset));
  };
  try {
    access.port_ruleset_ = std::async(std::launch::async, make);
  } catch (const std::system_error&) {  // no thread could be started: the first caller that needs the ruleset makes it
    access.port_ruleset_ = std::async(std::launch::deferred, make);
  }
  return access;
}

Result<std::shared_ptr<const OwnedFd>> ServerAccess::PortRuleset() const {
  if (!port_ruleset_.valid()) return nullptr;
  const SharedRuleset& made = port_ruleset_.get();
  if (made) return *made;
  return Fail(ErrorKind::kInvalidRequest,
              fmt::format("a sandboxed command with a network could connect to the server's port {} and start commands "
                          "without a sandbox ({}). Start the server with --ws-auth url-secret, or with "
                          "--insecure-no-auth to accept that",
                          *open_port_, made.error().message));
}

}  // namespace holdfast::sandbox
