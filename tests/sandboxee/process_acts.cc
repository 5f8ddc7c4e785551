#include <linux/ioprio.h>
#include <sys/resource.h>
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

// pid 1 of the sandbox ends the command, so the command must not be able to slow it. The acts are not done outside,
// where pid 1 belongs to the machine; AllowedActs() has the same calls for other processes.
constexpr Act OnFirstProcess(std::string_view name, std::string_view words, const FilteredCall& call) {
  return {.name = name, .words = words, .refusal = "EPERM", .outside = Outside::kNothingThere, .call = call};
}

constexpr Act kFirstProcess[] = {
    OnFirstProcess("schedule pid 1", "control_process scheduler 1", {SYS_sched_setscheduler, {1}}),
    OnFirstProcess("set parameters of pid 1", "control_process parameters 1", {SYS_sched_setparam, {1}}),
    OnFirstProcess("set attributes of pid 1", "control_process attributes 1", {SYS_sched_setattr, {1}}),
    OnFirstProcess("bind pid 1 to processors", "control_process affinity 1", {SYS_sched_setaffinity, {1}}),
    OnFirstProcess("limit pid 1", "control_process limit 1", {SYS_prlimit64, {1}}),
    OnFirstProcess("set the priority of pid 1", "control_process priority 1", {SYS_setpriority, {PRIO_PROCESS, 1}}),
    OnFirstProcess("set the priority of the group of pid 1", "control_process group_priority 1",
                   {SYS_setpriority, {PRIO_PGRP, 1}}),
    OnFirstProcess("set the I/O priority of pid 1", "control_process io_priority 1",
                   {SYS_ioprio_set, {IOPRIO_WHO_PROCESS, 1}}),
    OnFirstProcess("set the I/O priority of the group of pid 1", "control_process group_io_priority 1",
                   {SYS_ioprio_set, {IOPRIO_WHO_PGRP, 1}}),
    OnFirstProcess("join the group of pid 1", "join_group 1", {SYS_setpgid, {0, 1}}),
    {.name = "set the priority of a user",
     .words = "control_process user_priority 0",
     .refusal = "EPERM",
     .call = FilteredCall{SYS_setpriority, {PRIO_USER}}},
    {.name = "set the I/O priority of a user",
     .words = "control_process user_io_priority 0",
     .refusal = "EPERM",
     .call = FilteredCall{SYS_ioprio_set, {IOPRIO_WHO_USER}}},
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
std::span<const Act> FirstProcessActs() { return kFirstProcess; }
std::span<const Act> PrivilegeActs() { return kPrivileges; }

}  // namespace holdfast::sandboxee
