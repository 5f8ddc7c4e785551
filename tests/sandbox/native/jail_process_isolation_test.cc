// Two commands of one launcher cannot reach each other, and nothing of one is left for the next.
#include <sstream>

#include "sandbox/native/jail_fixture.h"

namespace holdfast::sandbox {
namespace {

using testing::HasSubstr;
using testing::Not;

// The first command makes something and waits. The second one looks for it while the first is there. Both can write the
// workspace, so that `file` shows that they would find what they share.
class JailProcessIsolationTest : public JailFixture {
 protected:
  // Returns what the second command prints.
  std::string LookBeside(const std::string& make, const std::string& look) {
    Launched first = Start(make + "\ntouch file; echo up; exec sleep 1000");
    first.AwaitOutput("up\n");
    const Finished second = Run("ls file; " + look);
    EXPECT_FALSE(sys::HasEnded(FirstProcess(first))) << "the first command has gone on";
    first.Kill();
    EXPECT_EQ(first.AwaitExit(), SIGKILL);
    EXPECT_THAT(second.out, HasSubstr("file\n"));
    return second.out + second.err;
  }

  static int FirstProcess(Launched& launched) {
    EXPECT_TRUE(launched.AwaitBegun());
    return launched.first_process.get();
  }
};

INSTANTIATE_TEST_SUITE_P(Users, JailProcessIsolationTest, testing::ValuesIn(UsersOfJails()), NameOfUser);

TEST_P(JailProcessIsolationTest, HidesProcesses) {
  const std::string found = LookBeside("exec -a secret-name sleep 1000 &",
                                       "ls -d /proc/[0-9]* | wc -w; cat /proc/[0-9]*/cmdline; kill -9 -1");
  EXPECT_THAT(found, Not(HasSubstr("secret-name")));
}

TEST_P(JailProcessIsolationTest, HidesTheJail) {
  EXPECT_EQ(LookBeside("true", fmt::format("[ -e /proc/{0} ] && [ $$ -ne {0} ] && echo found", jail())), "file\n");
  EXPECT_EQ(Run("cat /proc/1/cmdline /proc/1/environ | tr '\\0' '\\n' | grep -c TMPDIR").out, "0\n");
}

TEST_P(JailProcessIsolationTest, HasNamespacesOfItsOwn) {
  const std::string look = "for n in pid mnt ipc uts cgroup; do readlink /proc/self/ns/$n; done";
  Launched first = Start(look + "; echo up; exec sleep 1000");
  const std::string of_first = first.AwaitOutput("up\n");
  const Finished second = Run(look);
  std::istringstream lines(second.out);
  std::string line;
  int count = 0;
  for (; std::getline(lines, line); ++count) EXPECT_THAT(of_first, Not(HasSubstr(line)));
  EXPECT_EQ(count, 5);
}

TEST_P(JailProcessIsolationTest, HasSharedMemoryOfItsOwn) {
  EXPECT_EQ(LookBeside("echo text > /dev/shm/made", "ls /dev/shm"), "file\n");
}

TEST_P(JailProcessIsolationTest, HasTerminalsOfItsOwn) {
  const std::string make =
      "script -qc 'echo > made; exec sleep 1000' /dev/null > /dev/null & until [ -e made ]; do sleep 0.01; done";
  EXPECT_EQ(LookBeside(make, "ls /dev/pts"), "file\nptmx\n");
}

TEST_P(JailProcessIsolationTest, HasSystemVObjectsOfItsOwn) {
  const std::string found = LookBeside("ipcmk -M 4096 -Q -S 1 >&2 || echo none", "tail -n +2 -q /proc/sysvipc/*");
  EXPECT_EQ(found, "file\n");
}

// No socket can be made with an address, so none can be found by one either.
TEST_P(JailProcessIsolationTest, HasNoAbstractSockets) {
  const std::string bind = "import socket; s = socket.socket(socket.AF_UNIX); s.bind('\\0name')";
  const Finished finished = Run("python3 -c \"" + bind + "\"; awk 'NR > 1 && NF > 7' /proc/net/unix");
  if (finished.err.contains("not found")) GTEST_SKIP() << "needs python3: " << finished.err;
  EXPECT_THAT(finished.err, HasSubstr("Operation not permitted"));
  EXPECT_EQ(finished.out, "") << "no socket in the list has an address";
}

TEST_P(JailProcessIsolationTest, LeavesNothingForTheNextCommand) {
  EXPECT_EQ(Run("echo text > /dev/shm/made; ls /dev/shm").out, "made\n");
  const Finished next = Run("ls /dev/shm; set -- /proc/[0-9]*; echo $#");
  EXPECT_EQ(next.out, "2\n") << "pid 1 and the shell";
}

TEST_P(JailProcessIsolationTest, HasNoWayToTheMountsOfTheTemplate) {
  const Finished finished = Run("umount /dev/shm; umount -l /proc; mount --bind /tmp /mnt; nsenter -t 1 -m true");
  EXPECT_EQ(finished.out, "");
  EXPECT_EQ(Run("echo text > /dev/shm/made && cat /proc/self/comm").out, "cat\n");
}

TEST_P(JailProcessIsolationTest, HoldsNoDescriptorOfAnotherCommand) {
  Launched first = Start("echo up; exec sleep 1000");
  first.AwaitOutput("up\n");
  Launched second = Start("echo up; exec sleep 1000");
  second.AwaitOutput("up\n");
  first.Kill();
  // The output ends with the command that it belongs to, while the jail and the other command go on.
  EXPECT_EQ(ReadToEnd(first.out.get()), "");
  EXPECT_EQ(first.AwaitExit(), SIGKILL);
  EXPECT_EQ(first.Next(), std::nullopt);
  second.Kill();
  EXPECT_EQ(second.AwaitExit(), SIGKILL);
}

}  // namespace
}  // namespace holdfast::sandbox
