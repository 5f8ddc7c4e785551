#include "sandbox/confine/capabilities.h"

#include <linux/capability.h>
#include <linux/securebits.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace holdfast::sandbox {
namespace {

constexpr unsigned long kNothingForRoot = SECBIT_NOROOT | SECBIT_NOROOT_LOCKED | SECBIT_NO_SETUID_FIXUP |
                                          SECBIT_NO_SETUID_FIXUP_LOCKED | SECBIT_KEEP_CAPS_LOCKED |
                                          SECBIT_NO_CAP_AMBIENT_RAISE | SECBIT_NO_CAP_AMBIENT_RAISE_LOCKED;

struct Sets {
  __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct words[_LINUX_CAPABILITY_U32S_3] = {};
};

}  // namespace

// The secure bits and the bounding set can only be changed with CAP_SETPCAP. A failure does no harm: no_new_privs
// prevents a process without that capability from gaining any. The kernel refuses the number after the last capability.
// It reads the set faster than it changes it, which counts where a parent has emptied the set already.
void EmptyBoundingSet() {
  const bool may_be_empty = ::prctl(PR_CAPBSET_READ, 0, 0, 0, 0) == 0;
  for (unsigned long capability = 0;; ++capability) {
    const int is_in_set = may_be_empty ? ::prctl(PR_CAPBSET_READ, capability, 0, 0, 0) : 1;
    if (is_in_set < 0 || (is_in_set == 1 && ::prctl(PR_CAPBSET_DROP, capability, 0, 0, 0) < 0)) return;
  }
}

Result<> DropCapabilities() {
  (void)::prctl(PR_SET_SECUREBITS, kNothingForRoot, 0, 0, 0);
  EmptyBoundingSet();
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0) return FailErrno("prctl", "no_new_privs");
  if (::prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) < 0) return FailErrno("prctl", "ambient capabilities");
  Sets none;
  if (::syscall(SYS_capset, &none.header, none.words) < 0) return FailErrno("capset");
  Sets left;
  if (::syscall(SYS_capget, &left.header, left.words) < 0) return FailErrno("capget");
  for (const auto& word : left.words) {
    if ((word.effective | word.permitted | word.inheritable) != 0) {
      return Fail(ErrorKind::kInvalidRequest, "capset: capabilities are left");
    }
  }
  return {};
}

}  // namespace holdfast::sandbox
