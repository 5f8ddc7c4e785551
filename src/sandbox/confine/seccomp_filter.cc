#include "sandbox/confine/seccomp_filter.h"

#include <asm/ioctls.h>
#include <asm/unistd.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/fiemap.h>
#include <linux/fs.h>
#include <linux/ioprio.h>
#include <linux/kd.h>
#include <linux/netlink.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "base/check.h"
#include "sandbox/confine/bpf_assembler.h"
#include "sandbox/confine/syscall_sets.h"

namespace holdfast::sandbox {
namespace {

using Label = BpfAssembler::Label;
using Test = BpfAssembler::Test;
constexpr Label kNext = BpfAssembler::kNext;

constexpr uint32_t kFirstX32 = 0x4000'0000;
constexpr uint32_t kFirstNegative = 0x8000'0000;

// CLONE_NEWTIME is missing: in clone its bit is part of the signal number.
constexpr uint32_t kNamespaceFlags =
    CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS | CLONE_NEWCGROUP;
// The flags that unshare may have. They are a list of allowed flags, because later kernels give other bits a meaning.
constexpr uint32_t kUnsharable = CLONE_FS | CLONE_FILES | CLONE_SYSVSEM | CLONE_THREAD | CLONE_SIGHAND | CLONE_VM;

// With one of these bits in its mode, a program runs as its owner or group for every user that executes it.
constexpr uint32_t kSetIds = S_ISUID | S_ISGID;
// Without one of these flags the kernel ignores the mode of an open, and the argument is whatever was in its register.
constexpr uint32_t kCreates = O_CREAT | (O_TMPFILE & ~O_DIRECTORY);

constexpr uint32_t kSetDelegation = 1040;  // F_SETDELEG, which the headers of older systems do not name

// The offsets of the two halves of an argument. Where the parameter is an int, the kernel uses only the low half.
constexpr size_t Low(size_t argument) { return offsetof(seccomp_data, args) + argument * sizeof(uint64_t); }
constexpr size_t High(size_t argument) { return Low(argument) + sizeof(uint32_t); }

// FilterWriter writes one filter: a check of the ABI, a search by the number of the call, then the rules about
// arguments. When the filter is installed, the kernel runs it once for each number and remembers the calls that are
// allowed whatever their arguments are; those calls never run the filter. The search is a tree to make the installation
// fast: with a chain of comparisons it takes twice as long.
class FilterWriter {
 public:
  FilterWriter(Filter filter, StandsFor stands_for, Caller caller)
      : filter_(filter), stands_for_(stands_for), caller_(caller) {
    labels_.fill(allow_);
    Refuse(RefusedAlways());
    if (caller == Caller::kCommand) Refuse(RefusedToCommands());
    if (filter == Filter::kRestrictedNetwork) Refuse(RefusedWithoutNetwork());
    if (filter == Filter::kProxyNoListening) Refuse(RefusedWithoutListening());
    if (stands_for != StandsFor::kNothing) Refuse(RefusedWithoutNamespaces());
    if (stands_for == StandsFor::kNamespacesAndMounts) Refuse(RefusedWithoutMounts());
  }

  BpfProgram Write() {
    const ArgumentRules rules = RulesAboutArguments();
    for (const ArgumentRule& rule : rules) {
      for (uint32_t number : rule.numbers) labels_[number] = rule.label;
    }
    code_.Load(offsetof(seccomp_data, arch));
    code_.Jump(Test::kEqual, AUDIT_ARCH_X86_64, kNext, foreign_);
    code_.Load(offsetof(seccomp_data, nr));
    Search(Runs());
    for (const ArgumentRule& rule : rules) {
      code_.Bind(rule.label);
      rule.write();
    }
    WriteReturn(allow_, SECCOMP_RET_ALLOW);
    WriteReturn(refuse_, SECCOMP_RET_ERRNO | EPERM);
    WriteReturn(unknown_, SECCOMP_RET_ERRNO | ENOSYS);
    WriteReturn(foreign_, SECCOMP_RET_KILL_PROCESS);
    return code_.Finish();
  }

 private:
  // A run is the call numbers from `first` up to the first number of the next run, which share a label.
  struct Run {
    uint32_t first;
    Label label;
  };

  struct ArgumentRule {
    std::vector<uint32_t> numbers;
    std::function<void()> write;
    Label label;
  };
  using ArgumentRules = std::vector<ArgumentRule>;

  ArgumentRules RulesAboutArguments() {
    ArgumentRules rules;
    Add(rules, {__NR_clone}, [this] { WriteClone(); });
    Add(rules, {__NR_unshare}, [this] { WriteUnshare(); });
    Add(rules, {__NR_ioctl}, [this] { WriteIoctl(); });
    Add(rules, {__NR_fcntl}, [this] { WriteFcntl(); });
    AddSocketRules(rules);
    AddCreationRules(rules);
    if (stands_for_ != StandsFor::kNamespacesAndMounts) AddModeRules(rules);
    if (filter_ == Filter::kRestrictedNetwork) Add(rules, {__NR_sendto}, [this] { WriteSendTo(); });
    if (filter_ == Filter::kGuardedNetwork) AddPortRules(rules);
    AddProcessRules(rules);
    return rules;
  }

  void Add(ArgumentRules& rules, std::vector<uint32_t> numbers, std::function<void()> write) {
    rules.push_back({std::move(numbers), std::move(write), code_.NewLabel()});
  }

  // socketpair has the arguments of socket, and the same rule, except behind a proxy. There unix streams are allowed
  // only in pairs: a pair reaches nothing but its own ends, while a single socket could be connected to a socket of the
  // host.
  void AddSocketRules(ArgumentRules& rules) {
    if (!IsBehindProxy(filter_)) return Add(rules, {__NR_socket, __NR_socketpair}, [this] { WriteSocket(); });
    Add(rules, {__NR_socket}, [this] { WriteSocket(); });
    Add(rules, {__NR_socketpair}, [this] { WriteUnixPair(); });
  }

  // The rules about calls that make a file. mkdir needs none, because the kernel ignores both bits in its mode.
  void AddCreationRules(ArgumentRules& rules) {
    Add(rules, {__NR_open}, [this] { WriteOpen(1); });
    Add(rules, {__NR_openat}, [this] { WriteOpen(2); });
    Add(rules, {__NR_creat, __NR_mknod}, [this] { WriteMode(1, kSetIds); });
    Add(rules, {__NR_mknodat}, [this] { WriteMode(2, kSetIds); });
  }

  // The file helper changes the mode of a directory by a path and that of a file by a descriptor, so it may set the
  // set-group-ID bit by a path only.
  void AddModeRules(ArgumentRules& rules) {
    const uint32_t of_path = caller_ == Caller::kCommand ? kSetIds : S_ISUID;
    const uint32_t of_descriptor = caller_ == Caller::kFirstProcess ? S_ISUID : kSetIds;
    Add(rules, {__NR_chmod}, [this, of_path] { WriteMode(1, of_path); });
    Add(rules, {__NR_fchmodat, kFchmodat2}, [this, of_path] { WriteMode(2, of_path); });
    Add(rules, {__NR_fchmod}, [this, of_descriptor] { WriteMode(1, of_descriptor); });
  }

  // The rules about the ways to connect that the kernel's Landlock does not check.
  void AddPortRules(ArgumentRules& rules) {
    Add(rules, {__NR_sendto, __NR_sendmmsg}, [this] { WriteFlags(3); });
    Add(rules, {__NR_sendmsg}, [this] { WriteFlags(2); });
    Add(rules, {__NR_setsockopt}, [this] { WriteSocketOption(); });
  }

  // The rules about calls that change how a process runs, which they name by its number.
  void AddProcessRules(ArgumentRules& rules) {
    const bool own_pids = stands_for_ == StandsFor::kNothing;
    Add(rules,
        {__NR_prlimit64, __NR_sched_setaffinity, __NR_sched_setscheduler, __NR_sched_setparam, __NR_sched_setattr},
        [this, own_pids] { own_pids ? WriteNotFirst(0) : WriteOwnNumber(); });
    Add(rules, {__NR_setpriority}, [this, own_pids] { own_pids ? WriteNotUser(PRIO_USER) : WriteOwnOf(PRIO_PROCESS); });
    Add(rules, {__NR_ioprio_set},
        [this, own_pids] { own_pids ? WriteNotUser(IOPRIO_WHO_USER) : WriteOwnOf(IOPRIO_WHO_PROCESS); });
    // A process in the group of pid 1 could name that group by 0.
    if (own_pids) return Add(rules, {__NR_setpgid}, [this] { WriteNotFirst(1); });
    Add(rules, {__NR_migrate_pages, __NR_move_pages}, [this] { WriteOwnNumber(); });
  }

  void Refuse(std::span<const SyscallSet> sets) {
    for (const SyscallSet& set : sets) {
      CHECK(set.answer == EPERM || set.answer == ENOSYS);
      for (const Syscall& call : set.calls) labels_[call.number] = set.answer == EPERM ? refuse_ : unknown_;
    }
  }

  std::vector<Run> Runs() const {
    std::vector<Run> runs;
    for (uint32_t number = 0; number < labels_.size(); ++number) {
      if (runs.empty() || runs.back().label != labels_[number]) runs.push_back({number, labels_[number]});
    }
    runs.push_back({kFirstUnknownSyscall, unknown_});
    runs.push_back({kFirstX32, foreign_});
    // A tracer sets the number to -1 to skip a call, and careless programs pass it. It is not a call by another ABI.
    runs.push_back({kFirstNegative, unknown_});
    return runs;
  }

  void Search(std::span<const Run> runs) {
    const std::span<const Run> below = runs.first(runs.size() / 2), above = runs.subspan(runs.size() / 2);
    const Label to_below = Destination(below), to_above = Destination(above);
    code_.Jump(Test::kAtLeast, above.front().first, to_above, to_below);
    SearchAt(to_below, below);
    SearchAt(to_above, above);
  }

  void SearchAt(Label label, std::span<const Run> runs) {
    if (runs.size() == 1) return;
    code_.Bind(label);
    Search(runs);
  }

  Label Destination(std::span<const Run> runs) { return runs.size() == 1 ? runs.front().label : code_.NewLabel(); }

  void WriteClone() {
    code_.Load(Low(0));
    code_.Jump(Test::kAnyBit, kNamespaceFlags, refuse_, allow_);
  }

  void WriteUnshare() {
    code_.Load(High(0));
    code_.Jump(Test::kEqual, 0, kNext, refuse_);
    code_.Load(Low(0));
    code_.Jump(Test::kAnyBit, ~kUnsharable, refuse_, allow_);
  }

  // A lease or a delegation on a file that may only be read makes every process outside that opens it wait, up to 45
  // seconds. F_NOTIFY is what inotify has replaced.
  void WriteFcntl() {
    code_.Load(Low(1));
    code_.JumpIfOneOf({F_SETLEASE, F_NOTIFY, kSetDelegation}, refuse_, allow_);
  }

  void WriteMode(size_t argument, uint32_t refused_bits) {
    code_.Load(Low(argument));
    code_.Jump(Test::kAnyBit, refused_bits, refuse_, allow_);
  }

  // `flags` is the index of the argument with the flags; the mode is the next argument.
  void WriteOpen(size_t flags) {
    code_.Load(Low(flags));
    code_.Jump(Test::kAnyBit, kCreates, kNext, allow_);
    WriteMode(flags + 1, kSetIds);
  }

  // TIOCSTI, TIOCLINUX and the strings of keyboard keys type text into the terminal, which the next program that reads
  // from it takes for input of its user. Line disciplines are kernel modules that any user can make the kernel load.
  void WriteIoctl() {
    const bool files_are_open = stands_for_ != StandsFor::kNamespacesAndMounts;
    code_.Load(Low(1));
    code_.JumpIfOneOf({TIOCSTI, TIOCLINUX, TIOCSETD, KDSKBENT, KDSKBSENT}, refuse_, files_are_open ? allow_ : kNext);
    if (!files_are_open) WriteHarmlessIoctl();
  }

  // File systems have ioctls that change a file or directory which is open only for reading: flags, verity, snapshots.
  // The ioctls that are allowed here do not, or need a descriptor that is open for writing, or belong to terminals and
  // sockets.
  void WriteHarmlessIoctl() {
    constexpr uint32_t type_of_call = 0xff00, terminal = 0x5400, socket = 0x8900;
    code_.JumpIfOneOf(
        {FIGETBSZ, FICLONE, FICLONERANGE, FS_IOC_GETFLAGS, FS_IOC_FSGETXATTR, FS_IOC_FIEMAP, FS_IOC_GETVERSION}, allow_,
        kNext);
    code_.And(type_of_call);
    code_.JumpIfOneOf({terminal, socket}, allow_, refuse_);
  }

  // A call that names process 0 means the calling process.
  void WriteOwnNumber() {
    code_.Load(Low(0));
    code_.Jump(Test::kEqual, 0, allow_, refuse_);
  }

  void WriteOwnOf(uint32_t kind) {
    code_.Load(Low(0));
    code_.Jump(Test::kEqual, kind, kNext, refuse_);
    code_.Load(Low(1));
    code_.Jump(Test::kEqual, 0, allow_, refuse_);
  }

  // pid 1 of the sandbox ends the command and all that it has started. If the command could slow or limit pid 1, it
  // could delay its own end.
  void WriteNotFirst(size_t argument) {
    code_.Load(Low(argument));
    code_.Jump(Test::kEqual, 1, refuse_, allow_);
  }

  void WriteNotUser(uint32_t user) {
    code_.Load(Low(0));
    code_.Jump(Test::kEqual, user, refuse_, kNext);
    WriteNotFirst(1);
  }

  void WriteUnixPair() {
    code_.Load(Low(0));
    WriteUnixStream();
  }

  void WriteSocket() {
    code_.Load(Low(0));
    switch (filter_) {
      case Filter::kOpenNetwork:
        return WriteOpenSocket();
      case Filter::kRestrictedNetwork:
        return WriteUnixStream();
      case Filter::kProxyOnly:
      case Filter::kProxyNoListening:
        return WriteInet();
      case Filter::kGuardedNetwork:
        return WriteOpenSocket();
    }
  }

  void WriteOpenSocket() {
    const Label not_netlink = code_.NewLabel();
    code_.Jump(Test::kEqual, AF_UNIX, allow_, kNext);
    code_.Jump(Test::kEqual, AF_NETLINK, kNext, not_netlink);
    // getaddrinfo asks for addresses and routes by NETLINK_ROUTE. The other protocols configure the kernel.
    code_.Load(Low(2));
    code_.Jump(Test::kEqual, NETLINK_ROUTE, allow_, refuse_);
    code_.Bind(not_netlink);
    WriteInet();
  }

  // Streams and packet streams reach nothing but their peer: a stream refuses an address, a packet stream ignores it. A
  // datagram socket can send to any address, also when it was made in a pair. SOCK_RAW means SOCK_DGRAM for unix
  // sockets.
  void WriteUnixStream() {
    code_.Jump(Test::kEqual, AF_UNIX, kNext, refuse_);
    LoadSocketType();
    code_.JumpIfOneOf({SOCK_STREAM, SOCK_SEQPACKET}, allow_, refuse_);
  }

  // The list leaves out SCTP, DCCP and the like, whose modules the kernel loads for any user that asks, and
  // SOCK_PACKET, which makes a socket of another family.
  void WriteInet() {
    code_.JumpIfOneOf({AF_INET, AF_INET6}, kNext, refuse_);
    LoadSocketType();
    code_.JumpIfOneOf({SOCK_STREAM, SOCK_DGRAM}, kNext, refuse_);
    code_.Load(Low(2));
    if (filter_ == Filter::kGuardedNetwork) code_.Jump(Test::kEqual, IPPROTO_MPTCP, refuse_, kNext);
    code_.JumpIfOneOf({IPPROTO_IP, IPPROTO_TCP, IPPROTO_UDP, IPPROTO_ICMP, IPPROTO_ICMPV6, IPPROTO_MPTCP}, allow_,
                      refuse_);
  }

  void WriteFlags(size_t argument) {
    code_.Load(Low(argument));
    code_.Jump(Test::kAnyBit, MSG_FASTOPEN, refuse_, allow_);
  }

  // TCP_ULP gives a TCP socket to another protocol such as SMC, which then connects in its place.
  void WriteSocketOption() {
    code_.Load(Low(1));
    code_.Jump(Test::kEqual, SOL_TCP, kNext, allow_);
    code_.Load(Low(2));
    code_.Jump(Test::kEqual, TCP_ULP, refuse_, allow_);
  }

  void LoadSocketType() {
    code_.Load(Low(1));
    code_.And(~static_cast<uint32_t>(SOCK_CLOEXEC | SOCK_NONBLOCK));
  }

  void WriteSendTo() {
    code_.Load(Low(4));
    code_.Jump(Test::kEqual, 0, kNext, refuse_);
    code_.Load(High(4));
    code_.Jump(Test::kEqual, 0, allow_, refuse_);
  }

  void WriteReturn(Label label, uint32_t action) {
    code_.Bind(label);
    code_.Return(action);
  }

  Filter filter_;
  StandsFor stands_for_;
  Caller caller_;
  BpfAssembler code_;
  Label allow_ = code_.NewLabel(), refuse_ = code_.NewLabel(), unknown_ = code_.NewLabel(), foreign_ = code_.NewLabel();
  std::array<Label, kFirstUnknownSyscall> labels_;
};

}  // namespace

BpfProgram MakeFilter(Filter filter, StandsFor stands_for, Caller caller) {
  return FilterWriter(filter, stands_for, caller).Write();
}

Result<> InstallFilter(const BpfProgram& program) {
  CHECK(program.size() <= BPF_MAXINSNS);
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0) return FailErrno("prctl", "PR_SET_NO_NEW_PRIVS");
  const sock_fprog image = {.len = static_cast<unsigned short>(program.size()),
                            .filter = const_cast<sock_filter*>(program.data())};
  if (::syscall(__NR_seccomp, SECCOMP_SET_MODE_FILTER, 0, &image) != 0) {
    return FailErrno("seccomp", "SECCOMP_SET_MODE_FILTER");
  }
  return {};
}

}  // namespace holdfast::sandbox
