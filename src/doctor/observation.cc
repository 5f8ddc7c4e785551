#include "doctor/observation.h"

#include <fcntl.h>

#include "base/owned_fd.h"
#include "sandbox/jail/host_limits.h"
#include "sys/read_link.h"

namespace holdfast::doctor {
namespace {

std::string NamespaceName(const char* link) { return sys::ReadLink(link).value_or(""); }

bool Opens(const std::string& path, int flags) {
  const OwnedFd fd(::open(path.c_str(), flags | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, 0600));
  return fd.is_open();
}

}  // namespace

Observation Observe(const Places& places) {
  const sandbox::HostFacts facts = sandbox::GatherHostFacts();
  Observation seen;
  seen.mount_namespace = NamespaceName("/proc/self/ns/mnt");
  seen.pid_namespace = NamespaceName("/proc/self/ns/pid");
  seen.network_namespace = NamespaceName("/proc/self/ns/net");
  seen.has_filter = facts.seccomp_mode == sandbox::kSeccompFilterMode;
  seen.has_capabilities = facts.effective_capabilities != 0;
  if (!places.outside_file.empty()) {
    seen.writes_outside = Opens(places.outside_file, O_WRONLY);
    seen.reopens_for_writing = Opens("/proc/self/fd/0", O_WRONLY);
  }
  if (!places.workspace.empty()) {
    seen.writes_workspace = Opens(places.workspace + "/probe", O_WRONLY | O_CREAT);
  }
  return seen;
}

}  // namespace holdfast::doctor
