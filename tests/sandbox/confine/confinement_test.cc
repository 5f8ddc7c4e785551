#include "sandbox/confine/confinement.h"

#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdlib>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "sandbox/confine/filtered_child.h"
#include "sandbox/confine/landlock.h"
#include "support/scratch_dir.h"
#include "sys/signals.h"

namespace holdfast::sandbox {
namespace {

constexpr int kFailed = 200;

int Socket(int domain, int type) { return ::socket(domain, type | SOCK_CLOEXEC, 0); }

// Returns one end of a pair. The other end stays open in this process.
int PairEnd(int type) {
  int ends[2];
  return ::socketpair(AF_UNIX, type | SOCK_CLOEXEC, 0, ends) == 0 ? ends[0] : -1;
}

// Returns a socket that is connected to a listener, which stays open in this process.
int ConnectedTcp() {
  const int listener = Socket(AF_INET, SOCK_STREAM), fd = Socket(AF_INET, SOCK_STREAM);
  sockaddr_in loopback = {};
  loopback.sin_family = AF_INET;
  loopback.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  auto* const address = reinterpret_cast<sockaddr*>(&loopback);
  socklen_t size = sizeof loopback;
  const bool listens = ::bind(listener, address, size) == 0 && ::listen(listener, 1) == 0 &&
                       ::getsockname(listener, address, &size) == 0;
  return listens && ::connect(fd, address, size) == 0 ? fd : -1;
}

// Returns whether CheckStreams accepts a process whose standard output is `fd`.
bool Passes(Filter filter, int fd) {
  return InChild(kNoFilter, [&] {
           if (fd < 0 || ::dup2(fd, STDOUT_FILENO) < 0) return kFailed;
           return CheckStreams(filter) ? 0 : 1;
         }) == 0;
}

TEST(CheckStreamsTest, RefusesASocketThatCouldSendAnywhere) {
  for (const int fd : {PairEnd(SOCK_DGRAM), Socket(AF_UNIX, SOCK_DGRAM), Socket(AF_INET, SOCK_DGRAM)}) {
    EXPECT_FALSE(Passes(Filter::kRestrictedNetwork, fd));
    EXPECT_FALSE(Passes(Filter::kProxyOnly, fd));
    EXPECT_TRUE(Passes(Filter::kOpenNetwork, fd));
    ::close(fd);
  }
}

// The first message on such a socket can connect it to any address.
TEST(CheckStreamsTest, RefusesAStreamWithoutAPeer) {
  for (const int fd : {Socket(AF_INET, SOCK_STREAM), Socket(AF_INET6, SOCK_STREAM), Socket(AF_UNIX, SOCK_STREAM)}) {
    EXPECT_FALSE(Passes(Filter::kRestrictedNetwork, fd));
  }
}

TEST(CheckStreamsTest, TakesASocketThatHasOnePeer) {
  for (const Filter filter : {Filter::kRestrictedNetwork, Filter::kProxyOnly, Filter::kOpenNetwork}) {
    EXPECT_TRUE(Passes(filter, PairEnd(SOCK_STREAM)));
    EXPECT_TRUE(Passes(filter, PairEnd(SOCK_SEQPACKET)));
  }
  EXPECT_TRUE(Passes(Filter::kRestrictedNetwork, ConnectedTcp()));
}

// A command behind a proxy may call connect, so that it can reach the proxy.
TEST(CheckStreamsTest, RefusesASocketThatCouldBeConnectedToOthersThanTheProxy) {
  EXPECT_FALSE(Passes(Filter::kProxyOnly, Socket(AF_UNIX, SOCK_STREAM)));
  EXPECT_FALSE(Passes(Filter::kProxyOnly, Socket(AF_INET, SOCK_STREAM)));
  EXPECT_FALSE(Passes(Filter::kProxyOnly, ConnectedTcp()));
}

TEST(CheckStreamsTest, RefusesADirectory) {
  EXPECT_FALSE(Passes(Filter::kOpenNetwork, ::open("/", O_RDONLY | O_CLOEXEC)));
  EXPECT_FALSE(Passes(Filter::kOpenNetwork, ::open("/", O_PATH | O_CLOEXEC)));
}

TEST(CheckStreamsTest, OpensWhatIsClosed) {
  EXPECT_EQ(InChild(kNoFilter,
                    [] {
                      ::close(STDIN_FILENO);
                      ::close(STDERR_FILENO);
                      if (!CheckStreams(Filter::kRestrictedNetwork)) return 1;
                      char byte;
                      return ::read(STDIN_FILENO, &byte, 1) == 0 && ::write(STDERR_FILENO, "", 1) == 1 ? 0 : 2;
                    }),
            0);
}

TEST(PassOnlyTest, ClosesAllButTheStreamsAndWhatIsKept) {
  EXPECT_EQ(InChild(kNoFilter,
                    [] {
                      for (const int fd : {3, 9, 10, 11, 500}) ::dup3(STDERR_FILENO, fd, O_CLOEXEC);
                      if (!PassOnly(std::vector{9, 500})) return 1;
                      for (const int fd : {3, 10, 11}) {
                        if (::fcntl(fd, F_GETFD) >= 0) return fd;
                      }
                      return ::fcntl(9, F_GETFD) == 0 && ::fcntl(500, F_GETFD) == 0 ? 0 : 2;
                    }),
            0);
}

// Makes the Landlock calls of this process fail as on a kernel without Landlock.
void HideLandlock() {
  const sock_filter program[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_landlock_create_ruleset, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  if (!InstallFilter(BpfProgram(std::begin(program), std::end(program)))) ::_exit(kFailed);
}

TEST(ConfineTest, DoesWithoutLandlock) {
  EXPECT_EQ(InChild(kNoFilter,
                    [] {
                      HideLandlock();
                      if (LandlockAbi() != 0) return kFailed;
                      if (!Confine({.landlock = {{"/", LandlockRule::Rights::kWrite}}})) return 1;
                      return Socket(AF_INET, SOCK_STREAM) < 0 ? 0 : 2;
                    }),
            0);
}

TEST(ConfineTest, EnforcesItsRulesAndItsFilter) {
  if (LandlockAbi() == 0) GTEST_SKIP() << "the kernel has no Landlock, or it is not enabled";
  const support::ScratchDir inside, outside;
  const auto write = [](const std::string& path) { return ::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600); };
  EXPECT_EQ(InChild(kNoFilter,
                    [&] {
                      const Confinement confinement = {.filter = Filter::kRestrictedNetwork,
                                                       .landlock = {{"/", LandlockRule::Rights::kRead},
                                                                    {inside.path(), LandlockRule::Rights::kWrite}}};
                      if (!Confine(confinement)) return 1;
                      if (write(inside.path() + "/file") < 0) return 2;
                      if (write(outside.path() + "/file") >= 0) return 3;
                      return Socket(AF_INET, SOCK_STREAM) < 0 ? 0 : 4;
                    }),
            0);
  EXPECT_GE(write(outside.path() + "/file"), 0);
}

class ExecuteTest : public testing::Test {
 protected:
  // Returns the status that Execute gives in a process with this PATH.
  int StatusOf(const char* path, const std::vector<std::string>& argv) {
    return InChild(kNoFilter, [&] {
      path == nullptr ? ::unsetenv("PATH") : ::setenv("PATH", path, 1);
      (void)::chdir(scratch_.path().c_str());
      return Execute({.program = argv[0], .argv = argv}).status;
    });
  }

  support::ScratchDir scratch_;
};

TEST_F(ExecuteTest, RunsAProgram) {
  EXPECT_EQ(StatusOf("/usr/bin:/bin", {"sh", "-c", "exit 5"}), 5);
  EXPECT_EQ(StatusOf(nullptr, {"sh", "-c", "exit 5"}), 5);
  EXPECT_EQ(StatusOf("", {"/bin/sh", "-c", "exit 5"}), 5);
}

TEST_F(ExecuteTest, TellsMissingFromNotExecutable) {
  scratch_.Write("plain", "text");
  EXPECT_EQ(StatusOf("/bin", {"no-such-program"}), 127);
  EXPECT_EQ(StatusOf("/bin", {"/no/such/program"}), 127);
  EXPECT_EQ(StatusOf("/bin", {"./plain"}), 126);
  EXPECT_EQ(StatusOf("/bin", {"/"}), 126);
  EXPECT_EQ(StatusOf("", {"plain"}), 126) << "an empty PATH is the current directory";
}

// execvp passes over a file in the place of a directory for every user. A closed directory does not stop root.
TEST_F(ExecuteTest, CallsAProgramMissingAlsoWhenADirectoryOfThePathIsClosed) {
  ASSERT_EQ(::mkdir((scratch_.path() + "/closed").c_str(), 0), 0);
  const std::string path = scratch_.path() + "/closed:/bin";
  const auto as_user = [&] {
    return InChild(kNoFilter, [&] {
      ::setenv("PATH", path.c_str(), 1);
      if (::geteuid() == 0 && ::setresuid(65534, 65534, 65534) < 0) return kFailed;
      return Execute({.program = "no-such-program", .argv = {"no-such-program"}}).status;
    });
  };
  EXPECT_EQ(as_user(), 127);
  ::rmdir((scratch_.path() + "/closed").c_str());
}

TEST_F(ExecuteTest, NamesTheProgramAndTheReason) {
  const std::string name = "/no/such/program";
  EXPECT_EQ(Execute({.program = name, .argv = {"x"}}).error.message,
            "exec /no/such/program: No such file or directory");
}

TEST(HoldSignalsTest, LosesNothingAndIgnoresNothing) {
  EXPECT_EQ(InChild(kNoFilter,
                    [] {
                      ::signal(SIGUSR1, SIG_IGN);
                      HoldSignals();
                      ::kill(::getpid(), SIGUSR1);
                      sys::LetSignalsIn();
                      return 0;
                    }),
            128 + SIGUSR1);
}

}  // namespace
}  // namespace holdfast::sandbox
