#include <asm/ioctls.h>
#include <fcntl.h>
#include <linux/kd.h>
#include <sched.h>
#include <sys/syscall.h>

#include "sandboxee/act.h"

namespace holdfast::sandboxee {
namespace {

constexpr uint32_t kOpenTreeAttr = 467;  // the headers of older systems do not name this call

// Returns a call that is refused whatever its arguments are.
constexpr FilteredCall Call(uint32_t number) { return {number}; }
constexpr FilteredCall Unshare(uint64_t flag) { return {SYS_unshare, {flag}}; }
constexpr FilteredCall Clone(uint64_t flag) { return {SYS_clone, {flag}}; }
constexpr FilteredCall Clone3() { return {SYS_clone3, {}, "ENOSYS"}; }
constexpr FilteredCall Ioctl(uint64_t request) { return {SYS_ioctl, {0, request}}; }

constexpr Outside kRoot = Outside::kNeedsRoot, kIfThere = Outside::kIfThere, kRootIfThere = Outside::kNeedsRootIfThere;

constexpr Act kMounts[] = {
    {.name = "mount", .words = "mount {ws}/empty", .outside = kRoot, .call = Call(SYS_mount)},
    {.name = "mount, with a network", .words = "mount {ws}/empty", .policy = Policy::kNetwork, .outside = kRoot},
    {.name = "mount where every file may be written",
     .words = "mount {ws}/empty",
     .policy = Policy::kAnyFile,
     .outside = kRoot},
    {.name = "make the root writable", .words = "remount {out}", .outside = kRoot},
    {.name = "make .git writable", .words = "remount {ws}/.git", .outside = kRoot},
    {.name = "unmount .git", .words = "unmount {ws}/.git", .outside = kRoot, .call = Call(SYS_umount2)},
    {.name = "unmount /proc/sys", .words = "unmount /proc/sys", .outside = kRoot},
    {.name = "pivot_root", .words = "pivot_root", .outside = kRoot, .call = Call(SYS_pivot_root)},
    {.name = "chroot", .words = "change_root", .outside = kRoot, .call = Call(SYS_chroot)},
    {.name = "open_tree", .words = "open_tree 0", .call = Call(SYS_open_tree)},
    {.name = "open_tree of a copy", .words = "open_tree 1", .outside = kRoot},
    {.name = "open_tree_attr", .words = "open_tree_attr", .outside = kIfThere, .call = Call(kOpenTreeAttr)},
    {.name = "fsopen", .words = "open_filesystem", .outside = kRoot, .call = Call(SYS_fsopen)},
    {.name = "fsconfig", .words = "configure_filesystem", .call = Call(SYS_fsconfig)},
    {.name = "fsmount", .words = "mount_filesystem", .outside = kRoot, .call = Call(SYS_fsmount)},
    {.name = "fspick", .words = "pick_filesystem", .outside = kRoot, .call = Call(SYS_fspick)},
    {.name = "move_mount", .words = "move_mount", .outside = kRoot, .call = Call(SYS_move_mount)},
    {.name = "mount_setattr", .words = "set_mount_attributes", .outside = kRoot, .call = Call(SYS_mount_setattr)},
};

constexpr Act kNamespaces[] = {
    {.name = "unshare users", .words = "unshare 0x10000000", .call = Unshare(CLONE_NEWUSER)},
    {.name = "unshare users, with a network", .words = "unshare 0x10000000", .policy = Policy::kNetwork},
    {.name = "unshare users where every file may be written",
     .words = "unshare 0x10000000",
     .policy = Policy::kAnyFile},
    {.name = "unshare users and mounts", .words = "unshare 0x10020000", .call = Unshare(CLONE_NEWUSER | CLONE_NEWNS)},
    {.name = "unshare mounts", .words = "unshare 0x20000", .outside = kRoot, .call = Unshare(CLONE_NEWNS)},
    {.name = "unshare pids", .words = "unshare 0x20000000", .outside = kRoot, .call = Unshare(CLONE_NEWPID)},
    {.name = "unshare networks", .words = "unshare 0x40000000", .outside = kRoot, .call = Unshare(CLONE_NEWNET)},
    {.name = "unshare ipc", .words = "unshare 0x8000000", .outside = kRoot, .call = Unshare(CLONE_NEWIPC)},
    {.name = "unshare names", .words = "unshare 0x4000000", .outside = kRoot, .call = Unshare(CLONE_NEWUTS)},
    {.name = "unshare groups", .words = "unshare 0x2000000", .outside = kRoot, .call = Unshare(CLONE_NEWCGROUP)},
    {.name = "unshare time", .words = "unshare 0x80", .outside = kRootIfThere, .call = Unshare(0x80)},
    {.name = "clone users", .words = "clone 0x10000000", .call = Clone(CLONE_NEWUSER)},
    {.name = "clone mounts", .words = "clone 0x20000", .outside = kRoot, .call = Clone(CLONE_NEWNS)},
    {.name = "clone pids", .words = "clone 0x20000000", .outside = kRoot, .call = Clone(CLONE_NEWPID)},
    {.name = "clone networks", .words = "clone 0x40000000", .outside = kRoot, .call = Clone(CLONE_NEWNET)},
    {.name = "clone ipc", .words = "clone 0x8000000", .outside = kRoot, .call = Clone(CLONE_NEWIPC)},
    {.name = "clone names", .words = "clone 0x4000000", .outside = kRoot, .call = Clone(CLONE_NEWUTS)},
    {.name = "clone groups", .words = "clone 0x2000000", .outside = kRoot, .call = Clone(CLONE_NEWCGROUP)},
    {.name = "clone3 users", .words = "clone3 0x10000000", .refusal = "ENOSYS", .call = Clone3()},
    {.name = "clone3 mounts", .words = "clone3 0x20000", .refusal = "ENOSYS", .outside = kRoot},
    {.name = "clone3 time", .words = "clone3 0x80", .refusal = "ENOSYS", .outside = kRootIfThere},
    {.name = "enter mounts", .words = "enter_namespace /proc/self/ns/mnt", .outside = kRoot, .call = Call(SYS_setns)},
    {.name = "enter the network of pid 1",
     .words = "enter_namespace /proc/1/ns/net",
     .outside = Outside::kNeedsWholeMachine},
};

constexpr Act kKernel[] = {
    {.name = "io_uring_setup", .words = "io_uring", .outside = kIfThere, .call = Call(SYS_io_uring_setup)},
    {.name = "io_uring_setup, with a network", .words = "io_uring", .policy = Policy::kNetwork, .outside = kIfThere},
    {.name = "io_uring_enter", .words = "io_uring_enter", .outside = kIfThere, .call = Call(SYS_io_uring_enter)},
    {.name = "io_uring_register",
     .words = "io_uring_register",
     .outside = kIfThere,
     .call = Call(SYS_io_uring_register)},
    {.name = "io_setup",
     .words = "set_up_input",
     .refusal = "ENOSYS",
     .outside = kIfThere,
     .call = FilteredCall{SYS_io_setup, {}, "ENOSYS"}},
    {.name = "io_setup, with a network",
     .words = "set_up_input",
     .policy = Policy::kNetwork,
     .refusal = "ENOSYS",
     .outside = kIfThere},
    {.name = "bpf", .words = "bpf", .outside = kRootIfThere, .call = Call(SYS_bpf)},
    {.name = "perf_event_open", .words = "count_events", .outside = kRootIfThere, .call = Call(SYS_perf_event_open)},
    {.name = "userfaultfd", .words = "userfaultfd", .outside = kIfThere, .call = Call(SYS_userfaultfd)},
    {.name = "add_key", .words = "add_key", .outside = kIfThere, .call = Call(SYS_add_key)},
    {.name = "request_key", .words = "request_key", .outside = kIfThere, .call = Call(SYS_request_key)},
    {.name = "keyctl", .words = "find_keyring", .outside = kIfThere, .call = Call(SYS_keyctl)},
    {.name = "keyctl, with a network", .words = "find_keyring", .policy = Policy::kNetwork, .outside = kIfThere},
    {.name = "kexec_load", .words = "load_kernel", .outside = kRootIfThere, .call = Call(SYS_kexec_load)},
    {.name = "kexec_file_load",
     .words = "load_kernel_file",
     .outside = kRootIfThere,
     .call = Call(SYS_kexec_file_load)},
    {.name = "init_module", .words = "load_module", .outside = kRootIfThere, .call = Call(SYS_init_module)},
    {.name = "finit_module", .words = "load_module_file", .outside = kRootIfThere, .call = Call(SYS_finit_module)},
    {.name = "delete_module", .words = "remove_module", .outside = kRootIfThere, .call = Call(SYS_delete_module)},
    {.name = "settimeofday", .words = "set_time_of_day", .call = Call(SYS_settimeofday)},
    {.name = "clock_settime", .words = "set_clock", .call = Call(SYS_clock_settime)},
    {.name = "adjtimex", .words = "adjust_time", .call = Call(SYS_adjtimex)},
    {.name = "clock_adjtime", .words = "adjust_clock", .call = Call(SYS_clock_adjtime)},
    {.name = "reboot", .words = "reboot", .outside = kRoot, .call = Call(SYS_reboot)},
    {.name = "swapon", .words = "start_swapping", .outside = kRootIfThere, .call = Call(SYS_swapon)},
    {.name = "swapoff", .words = "stop_swapping", .outside = kRootIfThere, .call = Call(SYS_swapoff)},
    {.name = "acct", .words = "account_processes", .outside = kRootIfThere, .call = Call(SYS_acct)},
    {.name = "quotactl", .words = "quota", .outside = kIfThere, .call = Call(SYS_quotactl)},
    {.name = "quotactl_fd", .words = "quota_by_descriptor", .outside = kIfThere, .call = Call(SYS_quotactl_fd)},
    {.name = "sethostname", .words = "set_host_name", .outside = kRoot, .call = Call(SYS_sethostname)},
    {.name = "setdomainname", .words = "set_domain_name", .outside = kRoot, .call = Call(SYS_setdomainname)},
    {.name = "syslog", .words = "read_kernel_log", .outside = kRoot, .call = Call(SYS_syslog)},
    {.name = "vhangup", .words = "hang_up_terminal", .outside = kRoot, .call = Call(SYS_vhangup)},
    {.name = "iopl", .words = "raise_io_level", .outside = kRootIfThere, .call = Call(SYS_iopl)},
    {.name = "ioperm", .words = "permit_ports", .outside = kRootIfThere, .call = Call(SYS_ioperm)},
    {.name = "modify_ldt", .words = "change_segments", .outside = kIfThere, .call = Call(SYS_modify_ldt)},
    {.name = "name_to_handle_at", .words = "make_handle {out}", .call = Call(SYS_name_to_handle_at)},
    {.name = "open_by_handle_at", .words = "open_handle {out}", .outside = kRoot, .call = Call(SYS_open_by_handle_at)},
    {.name = "_sysctl", .words = "obsolete_call 156", .outside = kIfThere, .call = Call(SYS__sysctl)},
    {.name = "uselib", .words = "obsolete_call 134", .outside = kIfThere, .call = Call(SYS_uselib)},
    {.name = "nfsservctl", .words = "obsolete_call 180", .outside = kIfThere, .call = Call(SYS_nfsservctl)},
    {.name = "lookup_dcookie", .words = "obsolete_call 212", .outside = kIfThere, .call = Call(SYS_lookup_dcookie)},
    {.name = "TIOCSTI", .words = "type_key", .call = Ioctl(TIOCSTI)},
    {.name = "TIOCSTI, with a network", .words = "type_key", .policy = Policy::kNetwork},
    {.name = "TIOCLINUX", .words = "paste_selection", .call = Ioctl(TIOCLINUX)},
    {.name = "TIOCSETD", .words = "set_line_discipline", .call = Ioctl(TIOCSETD)},
    {.name = "KDSKBENT", .words = "set_keyboard_key", .call = Ioctl(KDSKBENT)},
    {.name = "KDSKBSENT", .words = "set_keyboard_string", .call = Ioctl(KDSKBSENT)},
    {.name = "the 32-bit ABI", .words = "call_32_bit", .refusal = "SIGSYS", .outside = kIfThere},
    {.name = "the x32 ABI", .words = "call_x32", .refusal = "SIGSYS"},
    // The act takes as many instances as a user has in all. Processes outside could then not watch files any more.
    {.name = "use up the instances of inotify", .words = "use_up_inotify", .refusal = "EMFILE"},
    // All private /dev/pts share one quota of the machine.
    {.name = "use up the terminals of all sandboxes", .words = "use_up_terminals", .refusal = "ENOSPC"},
    {.name = "use up the terminals, with a network",
     .words = "use_up_terminals",
     .policy = Policy::kNetwork,
     .refusal = "ENOSPC"},
    {.name = "lease a file that may be read",
     .words = "lease {out}/file.txt",
     .policy = Policy::kReadOnly,
     .call = FilteredCall{SYS_fcntl, {3, F_SETLEASE, F_WRLCK}}},
    {.name = "lease a file of the workspace", .words = "lease {ws}/a.txt"},
    {.name = "be told about a directory the old way",
     .words = "watch_directory {out}",
     .policy = Policy::kReadOnly,
     .outside = kIfThere,
     .call = FilteredCall{SYS_fcntl, {3, F_NOTIFY}}},
    {.name = "sysctl kernel", .words = "rewrite /proc/sys/kernel/core_pattern", .outside = kRoot},
    {.name = "sysctl kernel, with a network",
     .words = "rewrite /proc/sys/kernel/core_pattern",
     .policy = Policy::kNetwork,
     .outside = kRoot},
    {.name = "sysctl vm", .words = "rewrite /proc/sys/vm/swappiness", .outside = kRootIfThere},
    {.name = "sysctl net",
     .words = "rewrite /proc/sys/net/ipv4/ip_forward",
     .policy = Policy::kNetwork,
     .outside = kRootIfThere},
    {.name = "sysctl fs", .words = "rewrite /proc/sys/fs/protected_symlinks", .outside = kRootIfThere},
    {.name = "sysrq",
     .words = "open_for_writing /proc/sysrq-trigger",
     .refusal = "EACCES EROFS EPERM ENOENT",
     .outside = kRootIfThere},
    {.name = "interrupts",
     .words = "open_for_writing /proc/irq/default_smp_affinity",
     .refusal = "EACCES EROFS EPERM ENOENT",
     .outside = kRootIfThere},
    {.name = "kernel memory",
     .words = "read /proc/kcore",
     .refusal = "EACCES EROFS EPERM ENOENT",
     .outside = kRootIfThere},
    {.name = "huge pages",
     .words = "open_for_writing /sys/kernel/mm/transparent_hugepage/enabled",
     .refusal = "EACCES EROFS EPERM ENOENT",
     .outside = kRootIfThere},
    {.name = "control groups",
     .words = "open_for_writing /sys/fs/cgroup/cgroup.procs",
     .refusal = "EACCES EROFS EPERM ENOENT",
     .outside = kRootIfThere},
};

}  // namespace

std::span<const Act> MountActs() { return kMounts; }
std::span<const Act> NamespaceActs() { return kNamespaces; }
std::span<const Act> KernelActs() { return kKernel; }

}  // namespace holdfast::sandboxee
