// These tests run the filters in the kernel. Every act is tried twice: it works without a filter, and is refused under
// it.
#include <fcntl.h>
#include <linux/aio_abi.h>
#include <linux/landlock.h>
#include <linux/netlink.h>
#include <linux/openat2.h>
#include <linux/perf_event.h>
#include <linux/sched.h>
#include <netinet/in.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/timex.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <functional>
#include <string>
#include <thread>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/owned_fd.h"
#include "sandbox/confine/filtered_child.h"
#include "sandbox/confine/seccomp_filter.h"
#include "sandbox/confine/syscall_sets.h"

namespace holdfast::sandbox {
namespace {

constexpr Filter kFilters[] = {Filter::kOpenNetwork, Filter::kRestrictedNetwork, Filter::kProxyOnly,
                               Filter::kGuardedNetwork, Filter::kProxyNoListening};

using Act = std::function<int()>;  // 0, or the errno

struct Refusal {
  const char* name;
  Act act;
  int answer = EPERM;
};

void PrintTo(const Refusal& refusal, std::ostream* out) { *out << refusal.name; }

class RefusedCallTest : public testing::TestWithParam<Refusal> {};

int CloneWith(unsigned long flags) {
  const long child = ::syscall(SYS_clone, flags | SIGCHLD, 0, 0, 0, 0);
  if (child == 0) ::_exit(0);
  return ErrnoOf(child);
}

int Clone3() {
  clone_args arguments = {};
  arguments.exit_signal = SIGCHLD;
  const long child = ::syscall(SYS_clone3, &arguments, sizeof(arguments));
  if (child == 0) ::_exit(0);
  return ErrnoOf(child);
}

int ReadOwnMemory() {
  int secret = 42, copy = 0;
  const iovec from = {&secret, sizeof(secret)}, to = {&copy, sizeof(copy)};
  return ErrnoOf(::process_vm_readv(::getpid(), &to, 1, &from, 1, 0));
}

int CountOwnTime() {
  perf_event_attr attributes = {};
  attributes.type = PERF_TYPE_SOFTWARE;
  attributes.size = sizeof(attributes);
  attributes.config = PERF_COUNT_SW_TASK_CLOCK;
  attributes.exclude_kernel = attributes.exclude_hv = 1;
  return ErrnoOf(::syscall(SYS_perf_event_open, &attributes, 0, -1, -1, 0));
}

int HandleOfRoot() {
  alignas(file_handle) char buffer[sizeof(file_handle) + MAX_HANDLE_SZ];
  auto* handle = new (buffer) file_handle{};
  handle->handle_bytes = MAX_HANDLE_SZ;
  int mount = 0;
  return ErrnoOf(::name_to_handle_at(AT_FDCWD, "/tmp", handle, &mount, 0));
}

int ReadClockSettings() {
  timex settings = {};
  return ErrnoOf(::adjtimex(&settings));
}

// Opens a file without a name, so that nothing is left behind.
int NamelessFile(mode_t mode = 0600) { return ::open("/tmp", O_TMPFILE | O_WRONLY | O_CLOEXEC, mode); }

std::string NameOf(int fd) { return fmt::format("/proc/self/fd/{}", fd); }

int MakeNode(mode_t mode) {
  const std::string path = fmt::format("/tmp/holdfast-node-{}", ::getpid());
  const int made = ErrnoOf(::mknod(path.c_str(), S_IFREG | mode, 0));
  ::unlink(path.c_str());
  return made;
}

int Creat(mode_t mode) {
  const std::string path = fmt::format("/tmp/holdfast-file-{}", ::getpid());
  const int made = ErrnoOf(::syscall(SYS_creat, path.c_str(), mode));
  ::unlink(path.c_str());
  return made;
}

int SetUpInput() {
  aio_context_t context = 0;
  return ErrnoOf(::syscall(SYS_io_setup, 1, &context));
}

int OpenAt2() {
  const open_how how = {.flags = O_RDONLY, .mode = 0, .resolve = 0};
  return ErrnoOf(::syscall(SYS_openat2, AT_FDCWD, "/", &how, sizeof how));
}

// A descriptor that is open for reading is enough for a lease.
int Lease() {
  const OwnedFd reader(::open(NameOf(NamelessFile()).c_str(), O_RDONLY | O_CLOEXEC));
  return ErrnoOf(::fcntl(reader.get(), F_SETLEASE, F_WRLCK)) == EAGAIN
             ? 0
             : errno;  // EAGAIN: the file is open for writing, so the filter has let the call through
}

const Refusal kRefusals[] = {
    {"ptrace", [] { return ErrnoOf(::ptrace(PTRACE_TRACEME, 0, nullptr, nullptr)); }},
    {"process_vm_readv", ReadOwnMemory},
    {"pidfd_getfd", [] { return ErrnoOf(::syscall(SYS_pidfd_getfd, ::syscall(SYS_pidfd_open, ::getpid(), 0), 0, 0)); }},
    {"io_uring", [] { return ErrnoOf(::syscall(SYS_io_uring_setup, 4, nullptr)); }},
    {"io_setup", SetUpInput, ENOSYS},
    {"bpf", [] { return ErrnoOf(::syscall(SYS_bpf, 9999, nullptr, 0)); }},
    {"perf", CountOwnTime},
    {"userfaultfd",
     [] { return ErrnoOf(::syscall(SYS_userfaultfd, 1)); }},  // 1: for user mode only, which needs no rights
    {"keyctl", [] { return ErrnoOf(::syscall(SYS_keyctl, 0, -3, 0)); }},  // the id of the session keyring
    {"open_tree", [] { return ErrnoOf(::syscall(SYS_open_tree, AT_FDCWD, "/", 0)); }},
    {"setns", [] { return ErrnoOf(::setns(::open("/dev/null", O_RDONLY), 0)); }},
    {"unshare_user", [] { return ErrnoOf(::unshare(CLONE_NEWUSER)); }},
    {"clone_user", [] { return CloneWith(CLONE_NEWUSER); }},
    {"clone3", Clone3, ENOSYS},
    {"adjtimex", ReadClockSettings},
    {"name_to_handle_at", HandleOfRoot},
    {"modify_ldt", [] { return ErrnoOf(::syscall(SYS_modify_ldt, 0, nullptr, 0)); }},
    {"tiocsti", [] { return ErrnoOf(::ioctl(-1, TIOCSTI, "x")); }},
    {"tiocsti_64", [] { return ErrnoOf(::syscall(SYS_ioctl, -1, TIOCSTI | (1ul << 40), "x")); }},
    {"vsock", [] { return ErrnoOf(::socket(AF_VSOCK, SOCK_STREAM, 0)); }},
    {"netlink_audit", [] { return ErrnoOf(::socket(AF_NETLINK, SOCK_RAW, NETLINK_AUDIT)); }},
    {"sctp", [] { return ErrnoOf(::socket(AF_INET, SOCK_STREAM, IPPROTO_SCTP)); }},
    {"open_set_user_id", [] { return ErrnoOf(NamelessFile(04755)); }},
    {"open_set_group_id", [] { return ErrnoOf(NamelessFile(02755)); }},
    {"creat_set_user_id", [] { return Creat(04755); }},
    {"mknod_set_user_id", [] { return MakeNode(04755); }},
    {"mknod_set_group_id", [] { return MakeNode(02755); }},
    {"chmod_set_user_id", [] { return ErrnoOf(::chmod(NameOf(NamelessFile()).c_str(), 04755)); }},
    {"chmod_set_group_id", [] { return ErrnoOf(::chmod(NameOf(NamelessFile()).c_str(), 02755)); }},
    {"fchmod_set_user_id", [] { return ErrnoOf(::fchmod(NamelessFile(), 04755)); }},
    {"fchmod_set_group_id", [] { return ErrnoOf(::fchmod(NamelessFile(), 02755)); }},
    {"fchmodat_set_user_id", [] { return ErrnoOf(::fchmodat(AT_FDCWD, NameOf(NamelessFile()).c_str(), 04755, 0)); }},
    {"fchmodat2_set_user_id", [] { return ErrnoOf(::syscall(kFchmodat2, NamelessFile(), "", 04755, AT_EMPTY_PATH)); }},
    {"openat2", OpenAt2, ENOSYS},
    {"lease", Lease},
    {"notice", [] { return ErrnoOf(::fcntl(::open("/tmp", O_RDONLY | O_CLOEXEC), F_NOTIFY, DN_CREATE)); }},
};

INSTANTIATE_TEST_SUITE_P(Calls, RefusedCallTest, testing::ValuesIn(kRefusals),
                         [](const auto& test) { return std::string(test.param.name); });

TEST_P(RefusedCallTest, IsRefusedUnderEveryFilterOnly) {
  const Refusal& refusal = GetParam();
  if (InChild(kNoFilter, refusal.act) == refusal.answer) GTEST_SKIP() << "not possible here without a filter either";
  for (Filter filter : kFilters) EXPECT_EQ(InChild(filter, refusal.act), refusal.answer) << static_cast<int>(filter);
}

int StartThread() {
  int value = 0;
  std::thread([&] { value = 1; }).join();
  return value == 1 ? 0 : ENOSYS;
}

int RunProgram() { return std::system("exit 7") == 7 << 8 ? 0 : ECHILD; }  // NOLINT: the shell is the point

int FilterAgain() { return InstallFilter(MakeFilter(Filter::kProxyOnly)) ? 0 : EACCES; }

int AskForLandlock() {
  return ErrnoOf(::syscall(SYS_landlock_create_ruleset, nullptr, 0, LANDLOCK_CREATE_RULESET_VERSION));
}

TEST(SeccompKernelTest, LetsUsualCallsThrough) {
  const Refusal acts[] = {
      {"thread", StartThread},
      {"program", RunProgram},
      {"fork", [] { return CloneWith(0); }},
      {"window size", [] { return ErrnoOf(::ioctl(-1, TIOCGWINSZ, nullptr)) == EBADF ? 0 : EPERM; }},
      {"own files", [] { return ErrnoOf(::unshare(CLONE_FILES | CLONE_FS)); }},
      {"personality", [] { return ErrnoOf(::personality(ADDR_NO_RANDOMIZE)); }},
      {"memfd", [] { return ErrnoOf(::memfd_create("x", MFD_CLOEXEC)); }},
      {"another filter", FilterAgain},
      {"open with a mode that means nothing", [] { return ErrnoOf(::syscall(SYS_open, "/", O_RDONLY, 07777)); }},
      {"sticky file", [] { return ErrnoOf(NamelessFile(01755)); }},
      {"mode", [] { return ErrnoOf(::fchmod(NamelessFile(), 01755)); }},
      {"copy of a descriptor", [] { return ErrnoOf(::fcntl(0, F_DUPFD_CLOEXEC, 10)); }},
      {"landlock", AskForLandlock},
  };
  for (const Refusal& act : acts) {
    const int without = InChild(kNoFilter, act.act);
    for (Filter filter : kFilters) EXPECT_EQ(InChild(filter, act.act), without) << act.name;
  }
}

TEST(SeccompKernelTest, SetsNoNewPrivileges) {
  const Act ask = [] { return ::prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0); };
  EXPECT_EQ(InChild(Filter::kOpenNetwork, ask), 1);
}

TEST(SeccompKernelTest, AnswersLikeAnOlderKernelToWhatIsNewer) {
  for (long number : {470L, 547L, 5000L, -1L}) {
    const Act call = [&] { return ErrnoOf(::syscall(number, 0, 0, 0)); };
    EXPECT_EQ(InChild(Filter::kOpenNetwork, call), ENOSYS) << number;
  }
}

int GetPidOfI386() {
  long result = 20;  // getpid in the 32-bit table
  asm volatile("int $0x80" : "+a"(result) : : "memory", "r8", "r9", "r10", "r11");
  return result == ::getpid() ? 0 : ENOSYS;
}

TEST(SeccompKernelTest, EndsAProcessThatUsesThe32BitAbi) {
  if (InChild(kNoFilter, GetPidOfI386) != 0) GTEST_SKIP() << "this kernel has no 32-bit system calls";
  for (Filter filter : kFilters) EXPECT_EQ(InChild(filter, GetPidOfI386), 128 + SIGSYS);
}

TEST(SeccompKernelTest, EndsAProcessThatUsesTheX32Abi) {
  const Act call = [] { return ErrnoOf(::syscall(0x4000'0000 | SYS_getpid)); };
  EXPECT_NE(InChild(kNoFilter, call), 128 + SIGSYS);
  for (Filter filter : kFilters) EXPECT_EQ(InChild(filter, call), 128 + SIGSYS);
}

TEST(SeccompKernelTest, OpenNetworkHasTheUsualSockets) {
  const auto socket = [](int family, int type, int protocol) {
    return InChild(Filter::kOpenNetwork, [=] { return ErrnoOf(::socket(family, type, protocol)); });
  };
  EXPECT_EQ(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), 0);
  EXPECT_EQ(socket(AF_INET, SOCK_DGRAM, IPPROTO_UDP), 0);
  EXPECT_EQ(socket(AF_UNIX, SOCK_DGRAM, 0), 0);
  EXPECT_EQ(socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE), 0);
}

int TalkOverLoopback() {
  const OwnedFd listener(::socket(AF_INET, SOCK_STREAM, 0)), client(::socket(AF_INET, SOCK_STREAM, 0));
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof(address);
  auto* const generic = reinterpret_cast<sockaddr*>(&address);
  if (::bind(listener.get(), generic, size) < 0 || ::listen(listener.get(), 1) < 0) return errno;
  if (::getsockname(listener.get(), generic, &size) < 0 || ::connect(client.get(), generic, size) < 0) return errno;
  return ErrnoOf(::accept(listener.get(), nullptr, nullptr));
}

int MakePair(int type) {
  int pair[2];
  return ErrnoOf(::socketpair(AF_UNIX, type, 0, pair));
}

TEST(SeccompKernelTest, ProxyOnlyHasInetAndOfUnixSocketsOnlyPairs) {
  EXPECT_EQ(InChild(Filter::kProxyOnly, TalkOverLoopback), 0);
  for (int type : {SOCK_STREAM, SOCK_DGRAM, SOCK_SEQPACKET}) {
    EXPECT_EQ(InChild(Filter::kProxyOnly, [=] { return ErrnoOf(::socket(AF_UNIX, type, 0)); }), EPERM);
  }
  EXPECT_EQ(InChild(Filter::kProxyOnly, [] { return MakePair(SOCK_STREAM | SOCK_CLOEXEC); }), 0);
  EXPECT_EQ(InChild(Filter::kProxyOnly, [] { return MakePair(SOCK_SEQPACKET); }), 0);
  EXPECT_EQ(InChild(Filter::kProxyOnly, [] { return MakePair(SOCK_DGRAM); }), EPERM);
}

int BindInet(int type) {
  const OwnedFd fd(::socket(AF_INET, type, 0));
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return ErrnoOf(::bind(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address));
}

int ListenUnbound() {
  const OwnedFd fd(::socket(AF_INET, SOCK_STREAM, 0));
  return ErrnoOf(::listen(fd.get(), 1));
}

TEST(SeccompKernelTest, NoListeningLeavesBindToClients) {
  EXPECT_EQ(InChild(Filter::kProxyNoListening, TalkOverLoopback), EPERM);
  EXPECT_EQ(InChild(Filter::kProxyNoListening, ListenUnbound), EPERM);
  EXPECT_EQ(InChild(Filter::kProxyOnly, ListenUnbound), 0);
  EXPECT_EQ(InChild(Filter::kProxyNoListening, [] { return BindInet(SOCK_STREAM); }), 0);
  EXPECT_EQ(InChild(Filter::kProxyNoListening, [] { return BindInet(SOCK_DGRAM); }), 0);
  EXPECT_EQ(InChild(Filter::kProxyNoListening, [] { return MakePair(SOCK_STREAM); }), 0);
}

TEST(SeccompKernelTest, RestrictedNetworkHasNoInet) {
  EXPECT_EQ(InChild(kNoFilter, TalkOverLoopback), 0);
  for (int family : {AF_INET, AF_INET6, AF_NETLINK}) {
    EXPECT_EQ(InChild(Filter::kRestrictedNetwork, [=] { return ErrnoOf(::socket(family, SOCK_DGRAM, 0)); }), EPERM);
  }
}

}  // namespace
}  // namespace holdfast::sandbox
