#include "sandbox/confine/seccomp_filter.h"

#include <linux/audit.h>
#include <linux/seccomp.h>

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "sandbox/confine/bpf_assembler.h"
#include "sandbox/confine/syscall_sets.h"
#include "support/bpf_evaluator.h"

namespace holdfast::sandbox {
namespace {

using support::ActionText;
using support::Disassemble;
using support::Evaluate;

using Arguments = std::vector<uint64_t>;

constexpr uint64_t kHighBits = 0xdead'beef'0000'0000;

seccomp_data Call(uint32_t number, const Arguments& arguments = {}) {
  seccomp_data call = {.nr = static_cast<int>(number), .arch = AUDIT_ARCH_X86_64, .instruction_pointer = 1, .args = {}};
  for (size_t i = 0; i < arguments.size(); ++i) call.args[i] = arguments[i];
  return call;
}

std::string Text(const seccomp_data& call) {
  return fmt::format("call {:#x} of {:#x} with {:#x} {:#x} {:#x} {:#x} {:#x} {:#x}", static_cast<uint32_t>(call.nr),
                     call.arch, call.args[0], call.args[1], call.args[2], call.args[3], call.args[4], call.args[5]);
}

// The tests compare the filters with a second description of them, by the kernel's numbers and constants.

const std::set<uint32_t> kRefusedInEveryMode = {
    425, 426, 427,                 // io_uring: setup enter register
    101, 310, 311, 312, 438,       // ptrace, process_vm_readv, process_vm_writev, kcmp, pidfd_getfd
    321, 298,                      // bpf, perf_event_open
    323,                           // userfaultfd
    248, 249, 250,                 // add_key, request_key, keyctl
    165, 166, 155, 161,            // mount, umount2, pivot_root, chroot
    428, 467, 429, 442,            // open_tree, open_tree_attr, move_mount, mount_setattr
    430, 431, 432, 433,            // fsopen, fsconfig, fsmount, fspick
    308,                           // setns
    175, 313, 176, 246, 320,       // init_module, finit_module, delete_module, kexec_load, kexec_file_load
    164, 227, 159, 305,            // settimeofday, clock_settime, adjtimex, clock_adjtime
    169, 167, 168, 163, 179, 443,  // reboot, swapon, swapoff, acct, quotactl, quotactl_fd
    170, 171, 103, 153,            // sethostname, setdomainname, syslog, vhangup
    172, 173, 154,                 // iopl, ioperm, modify_ldt
    303, 304,                      // name_to_handle_at, open_by_handle_at
    156, 134, 180, 212,            // _sysctl, uselib, nfsservctl, lookup_dcookie
};

const std::set<uint32_t> kRefusedWithoutNamespaces = {
    29,  30,  31,       // shmget, shmat, shmctl
    64,  65,  66, 220,  // semget, semop, semctl, semtimedop
    68,  69,  70, 71,   // msgget, msgsnd, msgrcv, msgctl
    240, 241,           // mq_open, mq_unlink
};

const std::set<uint32_t> kRefusedWithoutMounts = {
    90,  91,  268, 452,                      // chmod, fchmod, fchmodat, fchmodat2
    92,  93,  94,  260,                      // chown, fchown, lchown, fchownat
    132, 235, 261, 280,                      // utime, utimes, futimesat, utimensat
    188, 189, 190, 463, 197, 198, 199, 466,  // setxattr l- f- -at, removexattr l- f- -at
    469,                                     // file_setattr
};

const std::set<uint32_t> kOnlyOfTheCaller = {302, 203, 144, 142, 314, 256, 279};  // prlimit64, sched_set*, pages

const std::set<uint32_t> kNotOfFirstProcess = {302, 203, 144, 142, 314};  // prlimit64, sched_set*

// FIGETBSZ, FICLONE, FICLONERANGE, FS_IOC_GETFLAGS, FS_IOC_FSGETXATTR, FS_IOC_FIEMAP, FS_IOC_GETVERSION
const std::set<uint32_t> kHarmlessIoctls = {2,           0x4004'9409, 0x4020'940d, 0x8008'6601,
                                            0x801c'581f, 0xc020'660b, 0x8008'7601};

const std::set<uint32_t> kRefusedWithoutNetwork = {42, 43, 288, 49, 50};  // connect, accept, accept4, bind, listen

const std::set<uint32_t> kUsualProtocols = {0, 1, 6, 17, 58, 262};  // the default, ICMP, TCP, UDP, ICMPv6, MPTCP

// TIOCSTI TIOCLINUX TIOCSETD KDSKBENT KDSKBSENT
const std::set<uint32_t> kTerminalTricks = {0x5412, 0x541c, 0x5423, 0x4b47, 0x4b49};

std::string AllowIf(bool allowed) { return allowed ? "allow" : "EPERM"; }

bool IsInet(uint32_t family, uint32_t type, uint32_t protocol) {
  return (family == 2 || family == 10) && (type == 1 || type == 2) && kUsualProtocols.contains(protocol);
}

bool IsUnixStream(uint32_t family, uint32_t type) { return family == 1 && (type == 1 || type == 5); }

std::string ExpectedOfSocket(Filter filter, const seccomp_data& call) {
  const bool is_pair = call.nr == 53;  // socketpair
  const auto family = static_cast<uint32_t>(call.args[0]), protocol = static_cast<uint32_t>(call.args[2]);
  const uint32_t type = static_cast<uint32_t>(call.args[1]) & ~02004000u;  // without SOCK_CLOEXEC, SOCK_NONBLOCK
  switch (filter) {
    case Filter::kRestrictedNetwork:
      return AllowIf(IsUnixStream(family, type));
    case Filter::kProxyOnly:
    case Filter::kProxyNoListening:
      return AllowIf(is_pair ? IsUnixStream(family, type) : IsInet(family, type, protocol));
    case Filter::kOpenNetwork:
      return AllowIf(family == 1 || (family == 16 && protocol == 0) || IsInet(family, type, protocol));
    case Filter::kGuardedNetwork:  // 262 is MPTCP
      return AllowIf(family == 1 || (family == 16 && protocol == 0) ||
                     (IsInet(family, type, protocol) && protocol != 262));
  }
  return "";
}

std::string ExpectedOfIoctl(StandsFor stands_for, uint32_t request) {
  if (kTerminalTricks.contains(request)) return "EPERM";
  const uint32_t type = (request >> 8) & 0xff;
  return AllowIf(stands_for != StandsFor::kNamespacesAndMounts || kHarmlessIoctls.contains(request) || type == 0x54 ||
                 type == 0x89);
}

struct Mode {
  Filter filter;
  StandsFor stands_for;
  Caller caller = Caller::kCommand;
};

// The calls that are decided by the bits of a mode, with the index of the argument that is the mode.
const std::map<uint32_t, size_t> kModes = {
    {90, 1}, {91, 1},  {268, 2}, {452, 2},  // chmod, fchmod, fchmodat, fchmodat2
    {85, 1}, {133, 1}, {259, 2},            // creat, mknod, mknodat
    {2, 2},  {257, 3},                      // open, openat
};

std::string ExpectedOfMode(Caller caller, const seccomp_data& call) {
  const auto number = static_cast<uint32_t>(call.nr);
  const size_t argument = kModes.at(number);
  const bool opens = number == 2 || number == 257;
  if (opens && (call.args[argument - 1] & 020000100) == 0) return "allow";  // neither O_CREAT nor __O_TMPFILE
  const bool by_path = number == 90 || number == 268 || number == 452;
  const bool group_allowed =
      (by_path && caller != Caller::kCommand) || (number == 91 && caller == Caller::kFirstProcess);
  return AllowIf((call.args[argument] & (group_allowed ? 04000 : 06000)) == 0);
}

// `flags` is the argument with the flags. MSG_FASTOPEN makes a message connect its socket.
std::string ExpectedOfMessage(Filter filter, uint64_t flags) {
  return AllowIf(filter != Filter::kGuardedNetwork || (flags & 0x2000'0000) == 0);
}

// setpriority counts its kinds (process, group, user) from 0, ioprio_set from 1.
std::string ExpectedOfPriority(bool namespaces, const seccomp_data& call) {
  const uint32_t kind = static_cast<uint32_t>(call.args[0]) - (call.nr == 251 ? 1 : 0);
  const auto number = static_cast<uint32_t>(call.args[1]);
  if (!namespaces) return AllowIf(kind == 0 && number == 0);
  return AllowIf(kind != 2 && number != 1);
}

std::string Expected(const Mode& mode, const seccomp_data& call) {
  const Filter filter = mode.filter;
  const bool namespaces = mode.stands_for == StandsFor::kNothing;
  const auto number = static_cast<uint32_t>(call.nr);
  const bool restricted = filter == Filter::kRestrictedNetwork;
  if (call.arch != 0xc000003e) return "kill process";
  if (number >= 0x40000000 && number < 0x80000000) return "kill process";
  if (number >= 470 || number == 435) return "ENOSYS";                    // 435 is clone3
  if (number == 206) return "ENOSYS";                                     // io_setup
  if (number == 437 && mode.caller == Caller::kCommand) return "ENOSYS";  // openat2
  if (kRefusedInEveryMode.contains(number)) return "EPERM";
  if (restricted && kRefusedWithoutNetwork.contains(number)) return "EPERM";
  if (mode.filter == Filter::kProxyNoListening && number == 50) return "EPERM";  // listen
  if (!namespaces && kRefusedWithoutNamespaces.contains(number)) return "EPERM";
  if (mode.stands_for == StandsFor::kNamespacesAndMounts && kRefusedWithoutMounts.contains(number)) return "EPERM";
  if (kModes.contains(number)) return ExpectedOfMode(mode.caller, call);
  if (!namespaces && kOnlyOfTheCaller.contains(number)) return AllowIf(static_cast<uint32_t>(call.args[0]) == 0);
  if (namespaces && kNotOfFirstProcess.contains(number)) return AllowIf(static_cast<uint32_t>(call.args[0]) != 1);
  switch (number) {
    case 56:  // clone: no CLONE_NEW* flag but CLONE_NEWTIME, which clone does not have
      return AllowIf((call.args[0] & 0x7e02'0000) == 0);
    case 272:  // unshare: CLONE_VM FS FILES SIGHAND THREAD SYSVSEM
      return AllowIf((call.args[0] & ~uint64_t{0x5'0f00}) == 0);
    case 16:  // ioctl
      return ExpectedOfIoctl(mode.stands_for, static_cast<uint32_t>(call.args[1]));
    case 141:  // setpriority
    case 251:  // ioprio_set
      return ExpectedOfPriority(namespaces, call);
    case 109:  // setpgid: nothing joins the group of pid 1
      return AllowIf(!namespaces || static_cast<uint32_t>(call.args[1]) != 1);
    case 72:  // fcntl: F_SETLEASE, F_NOTIFY, F_SETDELEG
      return AllowIf(!std::set<uint32_t>{1024, 1026, 1040}.contains(static_cast<uint32_t>(call.args[1])));
    case 44:  // sendto: without a network only with no address
      return restricted ? AllowIf(call.args[4] == 0) : ExpectedOfMessage(filter, call.args[3]);
    case 46:  // sendmsg
      return ExpectedOfMessage(filter, call.args[2]);
    case 307:  // sendmmsg
      return ExpectedOfMessage(filter, call.args[3]);
    case 54:  // setsockopt: TCP_ULP of SOL_TCP puts a protocol on top of the socket
      return AllowIf(filter != Filter::kGuardedNetwork || static_cast<uint32_t>(call.args[1]) != 6 ||
                     static_cast<uint32_t>(call.args[2]) != 31);
    case 41:  // socket
    case 53:  // socketpair
      return ExpectedOfSocket(filter, call);
    default:
      return "allow";
  }
}

class SeccompFilterTest : public testing::TestWithParam<Mode> {
 protected:
  // Reports only the first difference, together with the program.
  void Compare(const seccomp_data& call) {
    if (HasFailure()) return;
    const auto action = Evaluate(program_, call);
    ASSERT_TRUE(action) << action.error().message << "\n" << Disassemble(program_);
    ASSERT_EQ(ActionText(*action), Expected(GetParam(), call)) << Text(call) << "\n" << Disassemble(program_);
  }

  BpfProgram program_ = MakeFilter(GetParam().filter, GetParam().stands_for, GetParam().caller);
};

std::string NameOf(const testing::TestParamInfo<Mode>& info) {
  constexpr const char* kFilterNames[] = {"OpenNetwork", "RestrictedNetwork", "ProxyOnly", "GuardedNetwork",
                                          "ProxyNoListening"};
  constexpr const char* kStandsForNames[] = {"", "ForNamespaces", "ForMounts"};
  constexpr const char* kCallerNames[] = {"", "OfFirstProcess", "OfFileRequests"};
  const auto& [filter, stands_for, caller] = info.param;
  return fmt::format("{}{}{}", kFilterNames[std::to_underlying(filter)],
                     kStandsForNames[std::to_underlying(stands_for)], kCallerNames[std::to_underlying(caller)]);
}

INSTANTIATE_TEST_SUITE_P(
    Modes, SeccompFilterTest,
    testing::Values(Mode{Filter::kOpenNetwork, StandsFor::kNothing},
                    Mode{Filter::kRestrictedNetwork, StandsFor::kNothing},
                    Mode{Filter::kProxyOnly, StandsFor::kNothing}, Mode{Filter::kGuardedNetwork, StandsFor::kNothing},
                    Mode{Filter::kProxyNoListening, StandsFor::kNothing},
                    Mode{Filter::kProxyNoListening, StandsFor::kNothing, Caller::kFirstProcess},
                    Mode{Filter::kOpenNetwork, StandsFor::kNamespaces},
                    Mode{Filter::kRestrictedNetwork, StandsFor::kNamespaces},
                    Mode{Filter::kOpenNetwork, StandsFor::kNamespacesAndMounts},
                    Mode{Filter::kRestrictedNetwork, StandsFor::kNamespacesAndMounts},
                    Mode{Filter::kOpenNetwork, StandsFor::kNothing, Caller::kFirstProcess},
                    Mode{Filter::kRestrictedNetwork, StandsFor::kNothing, Caller::kFileRequests},
                    Mode{Filter::kRestrictedNetwork, StandsFor::kNamespacesAndMounts, Caller::kFileRequests}),
    NameOf);

TEST_P(SeccompFilterTest, DecidesEveryNumberAsTheTableSays) {
  const Arguments values = {0, 1, 2, 17, 0x5412, 0x1000'0000, uint64_t{1} << 32, ~uint64_t{0}};
  for (uint32_t number = 0; number <= 600; ++number) {
    for (uint64_t a : values) {
      for (uint64_t b : values) {
        for (uint64_t c : values) Compare(Call(number, {a, b, c, a, c, b}));
      }
    }
  }
}

TEST_P(SeccompFilterTest, KnowsNoNumberOfAnotherAbi) {
  for (uint32_t number : {0u, 39u, 101u, 425u, 512u, 547u}) {
    for (uint32_t high : {0x4000'0000u, 0x7fff'f000u, 0x8000'0000u, 0xffff'0000u}) Compare(Call(number | high));
    for (uint32_t arch : {0u, 0x4000'0003u, 0xc000'00b7u, 0x8000'003eu}) {  // 0, i386, aarch64, none
      seccomp_data call = Call(number);
      call.arch = arch;
      Compare(call);
    }
  }
  Compare(Call(0xffff'ffff));
}

TEST_P(SeccompFilterTest, TellsSocketsByFamilyTypeAndProtocol) {
  for (uint32_t number : {41u, 53u}) {
    for (uint64_t family = 0; family <= 50; ++family) {
      for (uint64_t type = 0; type < 16; ++type) {
        for (uint64_t flags : {0, 02000000, 04000, 02004000, 0x10, 0x10000}) {
          for (uint64_t protocol : {0, 1, 2, 4, 6, 15, 16, 17, 33, 58, 115, 132, 136, 255, 256, 262}) {
            Compare(Call(number, {family, type | flags, protocol}));
          }
        }
      }
    }
  }
}

// The kernel's parameter is an int, so it ignores the high half. A filter that compared the high half could be misled.
TEST_P(SeccompFilterTest, IgnoresTheHighHalfOfAnInt) {
  for (uint64_t family : {1, 2, 10, 16, 40}) {
    for (uint64_t type : {1, 2, 3, 5}) {
      Compare(Call(41, {family | kHighBits, type | kHighBits, kHighBits}));
      Compare(Call(53, {family | kHighBits, type | kHighBits, kHighBits}));
    }
  }
  for (uint64_t request : {0x5412, 0x541c, 0x5401}) Compare(Call(16, {0, request | kHighBits, 0}));
}

TEST_P(SeccompFilterTest, TellsTheFirstProcessWhateverTheHighHalfIs) {
  for (uint64_t high : {uint64_t{0}, kHighBits, uint64_t{1} << 32}) {
    for (uint64_t number : {0u, 1u, 2u, 0x1'0001u, 0x8000'0001u, 0xffff'ffffu}) {
      for (uint32_t call : kOnlyOfTheCaller) Compare(Call(call, {number | high, 1, 1}));
      for (uint64_t kind = 0; kind < 5; ++kind) {
        Compare(Call(141, {kind | high, number | high, 1}));
        Compare(Call(251, {kind | high, number | high, 1}));
      }
      Compare(Call(109, {1, number | high}));
    }
  }
}

TEST_P(SeccompFilterTest, TellsIoctlsByTheirRequest) {
  for (uint64_t request = 0; request <= 0xffff; ++request) Compare(Call(16, {0, request, 0}));
  for (uint64_t request : kHarmlessIoctls) Compare(Call(16, {0, request, 0}));
  // FS_IOC_SETFLAGS, FS_IOC_FSSETXATTR, FS_IOC_ENABLE_VERITY, BTRFS_IOC_SUBVOL_CREATE, TIOCGPTN
  for (uint64_t request : {0x4008'6602u, 0x401c'5820u, 0x4080'6685u, 0x5000'940eu, 0x8004'5430u}) {
    Compare(Call(16, {0, request, 0}));
  }
}

TEST_P(SeccompFilterTest, TellsCloneAndUnshareByEachFlag) {
  for (int bit = 0; bit < 64; ++bit) {
    for (uint64_t others : {0, 17, 0x100, 0x5'0f00}) {
      Compare(Call(56, {(uint64_t{1} << bit) | others}));
      Compare(Call(272, {(uint64_t{1} << bit) | others}));
    }
  }
}

// The kernel uses the low bits of a mode, whatever else is in the register.
TEST_P(SeccompFilterTest, TellsModesByTheirSetIdBits) {
  for (const auto& [number, argument] : kModes) {
    for (uint64_t bits : {0, 0755, 01777, 02755, 04755, 06755, 0100755, 0104755, 0102000}) {
      for (uint64_t flags : {0, 0100, 0101, 020000000, 020200002, 02000000, 0200000}) {
        Arguments arguments(6, flags | kHighBits);
        arguments[argument] = bits | kHighBits;
        Compare(Call(number, arguments));
      }
    }
  }
}

TEST_P(SeccompFilterTest, TellsTheCommandsOfFcntl) {
  for (uint64_t command = 0; command <= 1100; ++command) {
    Compare(Call(72, {3, command, 0}));
    Compare(Call(72, {3, command | kHighBits, 0}));
  }
}

TEST_P(SeccompFilterTest, TellsMessagesByTheirFlags) {
  for (int bit = 0; bit < 64; ++bit) {
    const uint64_t flag = uint64_t{1} << bit;
    for (uint32_t number : {44u, 46u, 307u}) Compare(Call(number, {3, 1, flag, flag, 0, 0}));
  }
}

TEST_P(SeccompFilterTest, TellsOptionsOfSocketsByLevelAndName) {
  for (uint64_t level = 0; level < 300; ++level) {
    for (uint64_t name = 0; name < 64; ++name) Compare(Call(54, {3, level, name | kHighBits}));
  }
}

TEST_P(SeccompFilterTest, SeesAnAddressInEitherHalfOfThePointer) {
  for (int bit = 0; bit < 64; ++bit) Compare(Call(44, {3, 1, 1, 0, uint64_t{1} << bit, 16}));
  Compare(Call(44, {3, 1, 1, 0, 0, 16}));
}

TEST_P(SeccompFilterTest, StaysSmall) {
  RecordProperty("instructions", static_cast<int>(program_.size()));
  EXPECT_LT(program_.size(), 200u) << Disassemble(program_);
}

// The kernel caches the answer to a call, and does not run the program again, only if the number alone decides.
TEST_P(SeccompFilterTest, DecidesUsualCallsByNumberAlone) {
  const uint32_t read = 0, write = 1, stat = 262, futex = 202, getpid = 39, sendmsg = 46;
  for (uint32_t number : {read, write, stat, futex, getpid, sendmsg}) {
    if (number == sendmsg && GetParam().filter == Filter::kGuardedNetwork) continue;  // its flags are checked
    BpfProgram blind = program_;
    // Every load of anything but the number and the ABI is turned into an error.
    for (sock_filter& line : blind) {
      if (BPF_CLASS(line.code) == BPF_LD && line.k >= offsetof(seccomp_data, instruction_pointer)) line.k = 1;
    }
    EXPECT_EQ(Evaluate(blind, Call(number)), SECCOMP_RET_ALLOW) << number;
  }
}

TEST(SyscallSetsTest, NameEachCallOnceAndGiveAReason) {
  std::set<uint32_t> numbers;
  for (auto sets : {RefusedAlways(), RefusedToCommands(), RefusedWithoutNetwork(), RefusedWithoutNamespaces(),
                    RefusedWithoutMounts()}) {
    for (const SyscallSet& set : sets) {
      EXPECT_FALSE(set.name.empty());
      EXPECT_FALSE(set.reason.empty()) << set.name;
      for (const Syscall& call : set.calls) {
        EXPECT_TRUE(numbers.insert(call.number).second) << call.name;
        EXPECT_LT(call.number, kFirstUnknownSyscall) << call.name;
      }
    }
  }
}

TEST(SyscallSetsTest, RefuseListeningAlsoWithoutANetwork) {
  std::set<uint32_t> without_network;
  for (const SyscallSet& set : RefusedWithoutNetwork()) {
    for (const Syscall& call : set.calls) without_network.insert(call.number);
  }
  for (const SyscallSet& set : RefusedWithoutListening()) {
    EXPECT_FALSE(set.reason.empty()) << set.name;
    for (const Syscall& call : set.calls) EXPECT_TRUE(without_network.contains(call.number)) << call.name;
  }
}

TEST(BpfAssemblerTest, JumpsToLabelsBoundLater) {
  BpfAssembler code;
  const auto yes = code.NewLabel(), no = code.NewLabel();
  code.Load(offsetof(seccomp_data, nr));
  code.And(0xff);
  code.JumpIfOneOf({1, 2}, BpfAssembler::kNext, no);
  code.Jump(BpfAssembler::Test::kAtLeast, 2, yes, no);
  code.Bind(no);
  code.Return(SECCOMP_RET_ERRNO | 1);
  code.Bind(yes);
  code.Return(SECCOMP_RET_ALLOW);
  EXPECT_EQ(Disassemble(code.Finish()),
            "0: A = nr\n"
            "1: A &= 0xff\n"
            "2: if A == 0x1 go 4 else 3\n"
            "3: if A == 0x2 go 4 else 5\n"
            "4: if A >= 0x2 go 6 else 5\n"
            "5: EPERM\n"
            "6: allow\n");
}

void JumpOver(size_t instructions) {
  BpfAssembler code;
  const auto end = code.NewLabel();
  code.Jump(BpfAssembler::Test::kEqual, 1, end, BpfAssembler::kNext);
  for (size_t i = 0; i < instructions; ++i) code.And(1);
  code.Bind(end);
  code.Return(SECCOMP_RET_ALLOW);
  EXPECT_EQ(code.Finish().front().jt, instructions);
}

TEST(BpfAssemblerTest, FailsRatherThanJumpElsewhere) {
  JumpOver(255);
  EXPECT_DEATH(JumpOver(256), "distance");
  BpfAssembler code;
  code.Jump(BpfAssembler::Test::kEqual, 1, code.NewLabel(), BpfAssembler::kNext);
  EXPECT_DEATH((void)code.Finish(), "kUnbound");
}

TEST(BpfEvaluatorTest, RefusesWhatTheKernelWouldRefuse) {
  const auto fails = [](const BpfProgram& program) { return !Evaluate(program, Call(0)).has_value(); };
  const sock_filter allow = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
  EXPECT_FALSE(fails({allow}));
  EXPECT_TRUE(fails({}));
  EXPECT_TRUE(fails({BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0, 1, 1), allow}));
  EXPECT_TRUE(fails({BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 2), allow}));
  EXPECT_TRUE(fails({BPF_STMT(BPF_LD | BPF_W | BPF_ABS, sizeof(seccomp_data)), allow}));
  EXPECT_TRUE(fails({BPF_STMT(BPF_LD | BPF_B | BPF_ABS, 0), allow}));
}

}  // namespace
}  // namespace holdfast::sandbox
