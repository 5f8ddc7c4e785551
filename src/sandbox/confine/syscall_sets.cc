#include "sandbox/confine/syscall_sets.h"

#include <asm/unistd.h>

namespace holdfast::sandbox {
namespace {

// The headers of the oldest supported build machine do not name these calls.
#ifndef __NR_open_tree_attr
#define __NR_open_tree_attr 467
#endif
#ifndef __NR_fchmodat2
#define __NR_fchmodat2 kFchmodat2
#endif
#ifndef __NR_setxattrat
#define __NR_setxattrat 463
#endif
#ifndef __NR_removexattrat
#define __NR_removexattrat 466
#endif
#ifndef __NR_file_setattr
#define __NR_file_setattr 469
#endif

#define CALL(name) {#name, __NR_##name}

constexpr Syscall kIoUring[] = {CALL(io_uring_setup), CALL(io_uring_enter), CALL(io_uring_register)};

constexpr Syscall kAsynchronousInput[] = {CALL(io_setup)};

constexpr Syscall kOtherProcesses[] = {
    CALL(ptrace), CALL(process_vm_readv), CALL(process_vm_writev), CALL(pidfd_getfd), CALL(kcmp),
};

constexpr Syscall kTracing[] = {CALL(bpf), CALL(perf_event_open)};

constexpr Syscall kUserfaultfd[] = {CALL(userfaultfd)};

constexpr Syscall kKeyrings[] = {CALL(add_key), CALL(request_key), CALL(keyctl)};

constexpr Syscall kMounts[] = {
    CALL(mount),  CALL(umount2),  CALL(pivot_root), CALL(chroot), CALL(open_tree),  CALL(open_tree_attr),
    CALL(fsopen), CALL(fsconfig), CALL(fsmount),    CALL(fspick), CALL(move_mount), CALL(mount_setattr),
};

constexpr Syscall kNamespaces[] = {CALL(setns)};

constexpr Syscall kClone3[] = {CALL(clone3)};

constexpr Syscall kKernelCode[] = {
    CALL(init_module), CALL(finit_module), CALL(delete_module), CALL(kexec_load), CALL(kexec_file_load),
};

constexpr Syscall kClocks[] = {CALL(settimeofday), CALL(clock_settime), CALL(adjtimex), CALL(clock_adjtime)};

constexpr Syscall kMachine[] = {
    CALL(reboot),      CALL(swapon),      CALL(swapoff),       CALL(acct),   CALL(quotactl),
    CALL(quotactl_fd), CALL(sethostname), CALL(setdomainname), CALL(syslog), CALL(vhangup),
};

constexpr Syscall kHardware[] = {CALL(iopl), CALL(ioperm), CALL(modify_ldt)};

constexpr Syscall kFileHandles[] = {CALL(name_to_handle_at), CALL(open_by_handle_at)};

constexpr Syscall kObsolete[] = {CALL(_sysctl), CALL(uselib), CALL(nfsservctl), CALL(lookup_dcookie)};

constexpr Syscall kOpenat2[] = {CALL(openat2)};

constexpr Syscall kConnections[] = {CALL(connect), CALL(bind), CALL(listen), CALL(accept), CALL(accept4)};

constexpr Syscall kListening[] = {CALL(listen)};

constexpr Syscall kFileAttributes[] = {
    CALL(chmod),        CALL(fchmod),      CALL(fchmodat),     CALL(fchmodat2),    CALL(chown),
    CALL(fchown),       CALL(lchown),      CALL(fchownat),     CALL(utime),        CALL(utimes),
    CALL(futimesat),    CALL(utimensat),   CALL(setxattr),     CALL(lsetxattr),    CALL(fsetxattr),
    CALL(setxattrat),   CALL(removexattr), CALL(lremovexattr), CALL(fremovexattr), CALL(removexattrat),
    CALL(file_setattr),
};

constexpr Syscall kSharedMemoryAndQueues[] = {
    CALL(shmget), CALL(shmat),  CALL(shmctl), CALL(semget), CALL(semop),   CALL(semtimedop), CALL(semctl),
    CALL(msgget), CALL(msgsnd), CALL(msgrcv), CALL(msgctl), CALL(mq_open), CALL(mq_unlink),
};

#undef CALL

constexpr SyscallSet kAlways[] = {
    {"io_uring", "carries out other calls without passing this filter", kIoUring},
    {"asynchronous input",
     "takes from a quota that the whole machine shares; programs go on without it, as on a kernel "
     "that was built without it",
     kAsynchronousInput, ENOSYS},
    {"other processes", "read and change what another process holds: memory, registers, descriptors", kOtherProcesses},
    {"tracing", "puts programs into the kernel, or watches it at work", kTracing},
    {"userfaultfd", "holds the kernel up in the middle of a copy, which turns races into exploits", kUserfaultfd},
    {"keyrings", "the user's keys are shared with everything outside, and belong to no namespace", kKeyrings},
    {"mounts", "change what paths mean, and with it every rule about paths", kMounts},
    {"namespaces", "leads into another namespace; new ones are refused by the flags of clone and unshare", kNamespaces},
    {"clone3", "its flags are behind a pointer; libc falls back to clone, whose flags can be seen", kClone3, ENOSYS},
    {"kernel code", "replaces the kernel, or parts of it", kKernelCode},
    {"clocks", "everybody on the machine shares the clock", kClocks},
    {"machine", "settings and logs of the machine as a whole", kMachine},
    {"hardware", "ports, and segments for other modes of the processor", kHardware},
    {"file handles", "open a file without passing through a directory, so past every mount", kFileHandles},
    {"obsolete", "no program of today uses them, and old kernels still have them", kObsolete},
};

constexpr SyscallSet kToCommands[] = {
    {"openat2", "its mode is behind a pointer; programs fall back to openat, whose mode can be seen", kOpenat2, ENOSYS},
};

constexpr SyscallSet kWithoutNetwork[] = {
    {"connections", "lead to sockets of others, or let others in; a pair of sockets needs none of them", kConnections},
};

// bind stays allowed: a client that chooses its own port binds, and so does every user of UDP. Without listen no stream
// socket accepts a connection, whether it is bound or not.
constexpr SyscallSet kWithoutListening[] = {
    {"listening", "lets others of the sandbox connect to a server", kListening},
};

constexpr SyscallSet kWithoutNamespaces[] = {
    {"shared memory and queues", "belong to all processes of the user, and to no file", kSharedMemoryAndQueues},
};

constexpr SyscallSet kWithoutMounts[] = {
    {"file attributes", "modes, owners, times and the like, which Landlock has no rule about", kFileAttributes},
};

}  // namespace

std::span<const SyscallSet> RefusedAlways() { return kAlways; }

std::span<const SyscallSet> RefusedToCommands() { return kToCommands; }

std::span<const SyscallSet> RefusedWithoutNetwork() { return kWithoutNetwork; }

std::span<const SyscallSet> RefusedWithoutListening() { return kWithoutListening; }

std::span<const SyscallSet> RefusedWithoutNamespaces() { return kWithoutNamespaces; }

std::span<const SyscallSet> RefusedWithoutMounts() { return kWithoutMounts; }

}  // namespace holdfast::sandbox
