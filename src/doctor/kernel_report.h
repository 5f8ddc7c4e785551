// The parts of the doctor's report that are about the kernel: what the kernel, as it is configured, lets this process
// do. Fields() define the JSON of `holdfast doctor --json`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "doctor/finding.h"

namespace holdfast::doctor {

struct Host {
  std::string kernel, container, capabilities;  // the effective capabilities, in hexadecimal
  uint64_t wsl = 0, uid = 0;
  bool in_sandbox = false, chrooted = false;

  void Fields(auto& f) {
    f.Required("kernel", kernel);
    f.Required("wsl", wsl);
    f.Required("container", container);
    f.Required("inSandbox", in_sandbox);
    f.Required("chrooted", chrooted);
    f.Required("uid", uid);
    f.Required("capabilities", capabilities);
  }
};

struct NamespacesReport {
  Finding user, id_map, mount, ipc, uts, network, pid, fresh_proc;

  void Fields(auto& f) {
    f.Required("user", user);
    f.Required("idMap", id_map);
    f.Required("mount", mount);
    f.Required("ipc", ipc);
    f.Required("uts", uts);
    f.Required("network", network);
    f.Required("pid", pid);
    f.Required("freshProc", fresh_proc);
  }
};

struct LandlockReport {
  Finding finding;
  uint64_t abi = 0;
  std::vector<std::string> covers;

  void Fields(auto& f) {
    finding.Fields(f);
    f.Required("abi", abi);
    f.Required("covers", covers);
  }
};

struct SeccompReport {
  Finding filter, user_notify;  // the sandbox uses only the filter
  uint64_t mode = 0;            // the seccomp mode of this process

  void Fields(auto& f) {
    f.Required("filter", filter);
    f.Required("userNotify", user_notify);
    f.Required("mode", mode);
  }
};

struct AppArmorReport {
  Finding finding;
  std::optional<bool> restricts_user_namespaces;
  std::string profile;

  void Fields(auto& f) {
    finding.Fields(f);
    f.Required("restrictsUserNamespaces", restricts_user_namespaces);
    f.Required("profile", profile);
  }
};

struct CgroupsReport {
  Finding finding;
  std::string version;                 // v1, v2 or hybrid
  std::vector<std::string> delegated;  // controllers of this process's groups that this user may write in; not used

  void Fields(auto& f) {
    finding.Fields(f);
    f.Required("version", version);
    f.Required("delegated", delegated);
  }
};

}  // namespace holdfast::doctor
