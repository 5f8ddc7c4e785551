#include "sandbox/proxy/listener.h"

#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <utility>
#include <vector>

#include "base/owned_fd.h"
#include "sys/descriptor_passing.h"

namespace holdfast::sandbox {
namespace {

struct Listener {
  OwnedFd fd;
  uint16_t port;
};

// Listens on a port of 127.0.0.1 that the kernel chooses.
Result<Listener> Listen() {
  OwnedFd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!fd.is_open()) return FailErrno("socket", "for a proxy");
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  auto* const generic = reinterpret_cast<sockaddr*>(&address);
  socklen_t size = sizeof address;
  if (::bind(fd.get(), generic, size) < 0) return FailErrno("bind", "127.0.0.1");
  if (::listen(fd.get(), SOMAXCONN) < 0) return FailErrno("listen", "127.0.0.1");
  if (::getsockname(fd.get(), generic, &size) < 0) return FailErrno("getsockname");
  return Listener{std::move(fd), ntohs(address.sin_port)};
}

// An environment may have a variable twice. setenv would replace only the first; unsetenv removes all of them.
Result<> SetVariable(const std::string& name, const std::string& value) {
  if (::unsetenv(name.c_str()) < 0 || ::setenv(name.c_str(), value.c_str(), 1) < 0) return FailErrno("setenv", name);
  return {};
}

}  // namespace

bool ProxyOrders::IsValid() const {
  return listeners > 0 && listeners <= kMaxProxyEndpoints &&
         std::ranges::all_of(variables, [this](const auto& variable) { return variable.endpoint < listeners; });
}

Result<> OpenProxyListeners(const ProxyOrders& orders) {
  std::vector<Listener> listeners;
  std::vector<int> fds;
  for (uint32_t i = 0; i < orders.listeners; ++i) {
    TRY(Listener listener, Listen());
    fds.push_back(listener.fd.get());
    listeners.push_back(std::move(listener));
  }
  TRY_VOID(sys::SendDescriptors(orders.control_fd, fds));
  for (const ProxyVariable& variable : orders.variables) {
    TRY_VOID(SetVariable(variable.name, ValueInside(variable, listeners[variable.endpoint].port)));
  }
  return {};
}

}  // namespace holdfast::sandbox
