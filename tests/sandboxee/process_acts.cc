#include <sys/syscall.h>

#include "sandboxee/act.h"

namespace holdfast::sandboxee {
namespace {

constexpr Act kProcesses[] = {
    {.name = "trace a child", .words = "trace_child", .call = FilteredCall{SYS_ptrace}},
    {.name = "trace a child, with a network", .words = "trace_child", .policy = Policy::kNetwork},
    {.name = "trace a child where every file may be written", .words = "trace_child", .policy = Policy::kAnyFile},
    {.name = "read memory", .words = "read_memory", .call = FilteredCall{SYS_process_vm_readv}},
    {.name = "write memory", .words = "write_memory", .call = FilteredCall{SYS_process_vm_writev}},
    {.name = "take a descriptor", .words = "take_descriptor", .call = FilteredCall{SYS_pidfd_getfd}},
    {.name = "compare processes",
     .words = "compare_processes",
     .outside = Outside::kIfThere,
     .call = FilteredCall{SYS_kcmp}},
    {.name = "open the memory of pid 1", .words = "open_memory 1", .outside = Outside::kNeedsWholeMachine},
    {.name = "open the memory of a process outside", .words = "open_memory {pid}", .refusal = "ENOENT"},
    {.name = "open a descriptor of pid 1",
     .words = "borrow_descriptor 1",
     .refusal = "EACCES ENOENT",
     .outside = Outside::kNeedsWholeMachine},
    {.name = "read the environment of pid 1", .words = "read /proc/1/environ", .outside = Outside::kNeedsWholeMachine},
    {.name = "see a process outside", .words = "see_process {pid}", .refusal = "ENOENT"},
    {.name = "see a process outside, with a network",
     .words = "see_process {pid}",
     .policy = Policy::kNetwork,
     .refusal = "ENOENT"},
    {.name = "read the policy", .words = "find_policy", .refusal = "ENOENT", .outside = Outside::kNothingThere},
    {.name = "signal a process outside", .words = "signal_process {pid}", .refusal = "ESRCH EPERM"},
    {.name = "signal a process outside, with a network",
     .words = "signal_process {pid}",
     .policy = Policy::kNetwork,
     .refusal = "ESRCH EPERM"},
    {.name = "signal a process outside where every file may be written",
     .words = "signal_process {pid}",
     .policy = Policy::kAnyFile,
     .refusal = "ESRCH EPERM"},
    {.name = "signal a process outside by descriptor", .words = "signal_by_descriptor {pid}", .refusal = "ESRCH EPERM"},
    {.name = "open a descriptor of a process outside", .words = "borrow_descriptor {pid}", .refusal = "ENOENT"},
    {.name = "limit a process outside", .words = "limit_process {pid}", .refusal = "ESRCH EPERM"},
    {.name = "slow a process outside", .words = "slow_process {pid}", .refusal = "ESRCH EPERM"},
    {.name = "write shared memory of System V", .words = "attach_segment {segment}", .refusal = "EINVAL EIDRM"},
    {.name = "open a message queue of the host",
     .words = "open_message_queue /{mark}",
     .refusal = "ENOENT EPERM EACCES",
     .outside = Outside::kIfThere},
};

constexpr Act kPrivileges[] = {
    {.name = "have a capability", .words = "have_capability", .outside = Outside::kNeedsRoot},
    {.name = "have a capability, with a network",
     .words = "have_capability",
     .policy = Policy::kNetwork,
     .outside = Outside::kNeedsRoot},
    {.name = "have a capability where every file may be written",
     .words = "have_capability",
     .policy = Policy::kAnyFile,
     .outside = Outside::kNeedsRoot},
    {.name = "have a capability within bounds", .words = "have_bounding_capability"},
    {.name = "may gain privileges", .words = "may_gain_privileges"},
    {.name = "become root by a setuid program", .words = "execute {setuid}", .outside = Outside::kNeedsOrdinaryUser},
    {.name = "gain a capability by a program's own",
     .words = "execute {capable}",
     .outside = Outside::kNeedsOrdinaryUser},
    {.name = "become another user",
     .words = "become_user 1234",
     .refusal = "EPERM EINVAL",
     .outside = Outside::kNeedsRoot},
    {.name = "become another group",
     .words = "become_group 1234",
     .refusal = "EPERM EINVAL",
     .outside = Outside::kNeedsRoot},
    {.name = "run before everybody else", .words = "become_realtime", .outside = Outside::kNeedsRoot},
    {.name = "raise a limit", .words = "raise_limit", .outside = Outside::kNeedsWholeMachine},
    {.name = "never be killed for memory", .words = "shield_from_shortage", .outside = Outside::kNeedsWholeMachine},
    {.name = "decide about opens", .words = "intercept_opens", .outside = Outside::kNeedsRootIfThere},
};

}  // namespace

std::span<const Act> ProcessActs() { return kProcesses; }
std::span<const Act> PrivilegeActs() { return kPrivileges; }

}  // namespace holdfast::sandboxee
