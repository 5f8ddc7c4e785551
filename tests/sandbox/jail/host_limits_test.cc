// The tests read facts from prepared trees, and explain messages of bubblewrap by facts that are made up.
#include "sandbox/jail/host_limits.h"

#include <sys/utsname.h>

#include <fstream>
#include <string>
#include <string_view>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/scratch_dir.h"

namespace holdfast::sandbox {
namespace {

using namespace std::string_view_literals;
using support::ScratchDir;
using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

constexpr std::string_view kRootLine = "27 1 254:0 / / rw,relatime - ext4 /dev/vda rw\n";
constexpr std::string_view kHostsLine = "60 27 254:0 /x/hosts /etc/hosts rw,relatime - ext4 /dev/vda rw\n";
constexpr std::string_view kNoNamespace =
    "bwrap: No permissions to create a new namespace, likely because the kernel does not allow non-privileged user "
    "namespaces.";
constexpr std::string_view kNoUidMap = "bwrap: setting up uid map: Permission denied\n";
constexpr std::string_view kNoProc = "bwrap: Can't mount proc on /newroot/proc: Operation not permitted\n";

// Returns the facts of a machine on which nothing prevents a sandbox.
HostFacts Ordinary() {
  HostFacts facts;
  facts.kernel_release = "6.1.0-18-amd64";
  facts.max_user_namespaces = 63'000;
  return facts;
}

class HostFactsTest : public testing::Test {
 protected:
  HostFacts Facts() const { return GatherHostFacts(tree_.path()); }
  HostFacts FactsWith(std::string_view name, std::string_view text) const {
    tree_.Write(name, text);
    return Facts();
  }

  ScratchDir tree_;
};

TEST_F(HostFactsTest, NothingStandsInTheWayInAnEmptyTree) {
  const HostFacts facts = Facts();
  EXPECT_EQ(facts.wsl, Wsl::kNone);
  EXPECT_THAT(facts.container, IsEmpty());
  EXPECT_TRUE(facts.has_user_namespaces);
  EXPECT_FALSE(facts.max_user_namespaces.has_value());
  EXPECT_FALSE(facts.unprivileged_userns_clone.has_value());
  EXPECT_FALSE(facts.apparmor_restricts_userns.has_value());
  EXPECT_FALSE(facts.chrooted);
  EXPECT_FALSE(facts.in_our_sandbox);
}

TEST_F(HostFactsTest, ReadsTheSwitchesOfTheKernel) {
  tree_.Write("proc/sys/kernel/unprivileged_userns_clone", "0\n");
  tree_.Write("proc/sys/kernel/apparmor_restrict_unprivileged_userns", "1\n");
  tree_.Write("proc/sys/user/max_user_namespaces", "0\n");
  tree_.Write("proc/sys/kernel/osrelease", "6.8.0-31-generic\n");
  const HostFacts facts = Facts();
  EXPECT_EQ(facts.unprivileged_userns_clone, false);
  EXPECT_EQ(facts.apparmor_restricts_userns, true);
  EXPECT_EQ(facts.max_user_namespaces, 0u);
  EXPECT_EQ(facts.kernel_release, "6.8.0-31-generic");
}

TEST_F(HostFactsTest, SeesAKernelWithoutUserNamespaces) {
  EXPECT_FALSE(FactsWith("proc/self/ns/mnt", "").has_user_namespaces);
  EXPECT_TRUE(FactsWith("proc/self/ns/user", "").has_user_namespaces);
}

TEST_F(HostFactsTest, ReadsWhatHoldsForThisProcess) {
  const HostFacts facts =
      FactsWith("proc/self/status",
                "Name:\tx\nCapPrm:\t0000000000000000\nCapEff:\t0000000000200000\nNoNewPrivs:\t1\nSeccomp:\t2\n");
  EXPECT_TRUE(facts.has_sys_admin());
  EXPECT_TRUE(facts.no_new_privs);
  EXPECT_EQ(facts.seccomp_mode, kSeccompFilterMode);
  EXPECT_TRUE(facts.in_our_sandbox);
}

TEST_F(HostFactsTest, AContainerWithAFilterIsNoSandboxOfOursUnlessItsFirstProcessIs) {
  tree_.Write("proc/self/status", "NoNewPrivs:\t1\nSeccomp:\t2\n");
  tree_.Write("run/.containerenv", "engine=\"podman-4.3.1\"\n");
  EXPECT_FALSE(Facts().in_our_sandbox);
  EXPECT_TRUE(FactsWith("proc/1/cmdline",
                        "/proc/self/fd/5\0inner-stage\0"
                        "7\0"sv)
                  .in_our_sandbox);
}

TEST_F(HostFactsTest, TheProfileOfAppArmorIsReadOnlyWhereItIsEnabled) {
  tree_.Write("proc/self/attr/current", "docker-default (enforce)\n");
  EXPECT_THAT(Facts().apparmor_profile, IsEmpty());
  EXPECT_EQ(FactsWith("sys/module/apparmor/parameters/enabled", "Y\n").apparmor_profile, "docker-default (enforce)");
  EXPECT_THAT(FactsWith("proc/self/attr/apparmor/current", "unconfined\n").apparmor_profile, IsEmpty());
}

TEST_F(HostFactsTest, ADockerImageUnpackedAsAMachineIsNoContainer) {
  tree_.Write(".dockerenv", "");
  EXPECT_THAT(FactsWith("proc/self/mountinfo", kRootLine).container, IsEmpty());
  EXPECT_EQ(FactsWith("proc/self/mountinfo", fmt::format("{}{}", kRootLine, kHostsLine)).container, "docker");
}

TEST_F(HostFactsTest, KnowsContainersByTheirTraces) {
  EXPECT_EQ(FactsWith("proc/self/cgroup", "0::/lxc/one\n").container, "lxc");
  EXPECT_EQ(FactsWith("run/systemd/container", "systemd-nspawn\n").container, "systemd-nspawn");
  EXPECT_EQ(FactsWith("proc/self/cgroup", "4:memory:/docker/0123\n").container, "docker");
  EXPECT_EQ(FactsWith("run/.containerenv", "").container, "podman");
  EXPECT_EQ(FactsWith("proc/self/cgroup", "0::/kubepods/burstable/pod1\n").container, "kubernetes");
}

TEST_F(HostFactsTest, LxcfsTellsLxc) {
  EXPECT_EQ(FactsWith("proc/self/mountinfo",
                      fmt::format("{}70 22 0:50 /proc/stat /proc/stat rw - fuse.lxcfs lxcfs rw\n", kRootLine))
                .container,
            "lxc");
}

TEST_F(HostFactsTest, AMountOnTheWayToBinfmtHidesNothing) {
  const std::string binfmt = fmt::format("{}50 22 0:40 / /proc/sys/fs/binfmt_misc rw - autofs x rw\n", kRootLine);
  EXPECT_FALSE(FactsWith("proc/self/mountinfo", binfmt).proc_is_covered);
  EXPECT_TRUE(
      FactsWith("proc/self/mountinfo", binfmt + "51 22 0:6 /null /proc/kcore rw - devtmpfs x rw\n").proc_is_covered);
}

TEST_F(HostFactsTest, ARootThatIsNoMountIsAChroot) {
  EXPECT_FALSE(FactsWith("proc/self/mountinfo", kRootLine).chrooted);
  EXPECT_TRUE(FactsWith("proc/self/mountinfo", "22 27 0:21 / /proc rw - proc proc rw\n").chrooted);
}

TEST(HostFactsOfThisMachineTest, AgreeWithTheKernel) {
  const HostFacts facts = GatherHostFacts();
  utsname names;
  ASSERT_EQ(::uname(&names), 0);
  EXPECT_EQ(facts.kernel_release, names.release);
  uint64_t most = 0;
  std::ifstream("/proc/sys/user/max_user_namespaces") >> most;
  EXPECT_EQ(facts.max_user_namespaces, most);
}

TEST(WslTest, IsToldByTheNameOfTheKernel) {
  EXPECT_EQ(WslOf("4.4.0-19041-Microsoft"), Wsl::kWsl1);
  EXPECT_EQ(WslOf("Linux version 4.4.0-18362-Microsoft (Microsoft@Microsoft.com) (gcc 5.4.0)"), Wsl::kWsl1);
  EXPECT_EQ(WslOf("4.4.0-wsl1"), Wsl::kWsl1);
  EXPECT_EQ(WslOf("5.15.153.1-microsoft-standard-WSL2"), Wsl::kWsl2);
  EXPECT_EQ(WslOf("6.6.0-microsoft-custom-WSL2+"), Wsl::kWsl2);
  EXPECT_EQ(WslOf("6.1.0-18-amd64"), Wsl::kNone);
}

TEST(CheckHostTest, RefusesWsl1Only) {
  const auto refused = CheckHost(Wsl::kWsl1);
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().kind, ErrorKind::kInvalidRequest);
  EXPECT_THAT(refused.error().message, HasSubstr("WSL 2"));
  EXPECT_TRUE(CheckHost(Wsl::kWsl2).has_value());
  EXPECT_TRUE(CheckHost(Wsl::kNone).has_value());
  EXPECT_TRUE(CheckHost().has_value());  // the tests do not run under WSL 1
}

TEST(ExplainTest, SaysNothingAboutWordsItDoesNotKnow) {
  EXPECT_THAT(ExplainFailure(Ordinary(), "cat: /etc/shadow: Permission denied"), IsEmpty());
  EXPECT_THAT(ExplainFailure(Ordinary(), ""), IsEmpty());
}

// The list has one of each message that bubblewrap writes when a machine forbids something.
TEST(ExplainTest, HasAWordForEverythingAMachineForbids) {
  for (const std::string_view text : {
           kNoNamespace,
           std::string_view("bwrap: No permissions to create new namespace, likely because the kernel"),
           kNoUidMap,
           std::string_view("bwrap: setting up gid map: Operation not permitted"),
           kNoProc,
           std::string_view("bwrap: loopback: Failed RTM_NEWADDR: Operation not permitted"),
           std::string_view("bwrap: loopback: Failed RTM_NEWLINK: Operation not permitted"),
           std::string_view("bwrap: Creating new namespace failed: Invalid argument"),
           std::string_view("bwrap: Creating new namespace failed: nesting depth or /proc/sys/user/max_*_namespaces "
                            "exceeded (ENOSPC)"),
           std::string_view("bwrap: Failed to make / slave: Permission denied"),
           std::string_view("bwrap: Failed to mount tmpfs: Permission denied"),
           std::string_view("bwrap: Can't mount devpts on /newroot/dev/pts: Permission denied"),
           std::string_view("bwrap: Can't bind mount /oldroot/ on /newroot/: Operation not permitted"),
           std::string_view("bwrap: pivot_root: Invalid argument"),
           std::string_view("bwrap: Unable to set up system call filtering as requested: prctl(PR_SET_SECCOMP) "
                            "reported EINVAL."),
           std::string_view("bwrap: Unknown option --json-status-fd"),
           std::string_view("bwrap: Can't open /proc: No such file or directory"),
       }) {
    EXPECT_THAT(ExplainFailure(Ordinary(), text), AllOf(Not(IsEmpty()), testing::EndsWith("."))) << text;
  }
}

TEST(ExplainTest, AMountThatFailsForItsPathIsNoFaultOfTheMachine) {
  EXPECT_THAT(ExplainFailure(Ordinary(), "bwrap: Can't bind mount /oldroot/x on /newroot/x: No such file or directory"),
              IsEmpty());
}

TEST(ExplainTest, NamesTheSwitchThatForbidsUserNamespaces) {
  HostFacts facts = Ordinary();
  facts.max_user_namespaces = 0;
  EXPECT_THAT(ExplainFailure(facts, kNoNamespace), HasSubstr("user.max_user_namespaces"));
  EXPECT_THAT(ExplainFailure(facts, "bwrap: ... exceeded (ENOSPC)"), HasSubstr("user.max_user_namespaces"));
  facts = Ordinary();
  facts.unprivileged_userns_clone = false;
  EXPECT_THAT(ExplainFailure(facts, kNoNamespace), HasSubstr("kernel.unprivileged_userns_clone=1"));
  facts.effective_capabilities = ~uint64_t{0};
  EXPECT_THAT(ExplainFailure(facts, kNoNamespace), Not(HasSubstr("unprivileged_userns_clone")));
}

TEST(ExplainTest, NamesAppArmorWhereItRestricts) {
  HostFacts facts = Ordinary();
  facts.apparmor_restricts_userns = true;
  for (const std::string_view text :
       {kNoNamespace, kNoUidMap, std::string_view("bwrap: loopback: Failed RTM_NEWADDR: Operation not permitted")}) {
    EXPECT_THAT(ExplainFailure(facts, text), HasSubstr("kernel.apparmor_restrict_unprivileged_userns=0")) << text;
  }
  facts.effective_capabilities = ~uint64_t{0};
  EXPECT_THAT(ExplainFailure(facts, kNoUidMap), Not(HasSubstr("apparmor_restrict")));
}

TEST(ExplainTest, TellsTheUserOfAContainerWhatToWrite) {
  HostFacts facts = Ordinary();
  facts.seccomp_mode = kSeccompFilterMode;
  facts.proc_is_covered = true;
  const auto with = [&](const char* container) {
    facts.container = container;
    return ExplainFailure(facts, kNoNamespace) + ExplainFailure(facts, kNoProc);
  };
  EXPECT_THAT(with("docker"), AllOf(HasSubstr("seccomp=unconfined"), HasSubstr("systempaths=unconfined")));
  EXPECT_THAT(with("podman"), AllOf(HasSubstr("seccomp=unconfined"), HasSubstr("unmask=ALL")));
  EXPECT_THAT(with("kubernetes"), AllOf(HasSubstr("seccompProfile"), HasSubstr("procMount")));
  EXPECT_THAT(with("lxc"), HasSubstr("security.nesting"));
  EXPECT_THAT(with("systemd-nspawn"), AllOf(HasSubstr("systemd-nspawn"), HasSubstr("--no-proc")));
}

TEST(ExplainTest, NamesMountsOverProcOutsideOfContainersToo) {
  HostFacts facts = Ordinary();
  facts.proc_is_covered = true;
  EXPECT_THAT(ExplainFailure(facts, kNoProc), AllOf(HasSubstr("cover parts of /proc"), HasSubstr("--no-proc")));
}

TEST(ExplainTest, NamesWsl1AndASandboxAroundThisOne) {
  HostFacts facts = Ordinary();
  facts.in_our_sandbox = true;
  facts.seccomp_mode = kSeccompFilterMode;
  EXPECT_THAT(ExplainFailure(facts, kNoNamespace), HasSubstr("in a sandbox itself"));
  facts.wsl = Wsl::kWsl1;
  EXPECT_THAT(ExplainFailure(facts, kNoNamespace), HasSubstr("WSL 2"));
}

TEST(ExplainTest, NamesOtherCauses) {
  HostFacts facts = Ordinary();
  facts.has_user_namespaces = false;
  EXPECT_THAT(ExplainFailure(facts, kNoNamespace), HasSubstr("CONFIG_USER_NS"));
  facts = Ordinary();
  facts.chrooted = true;
  EXPECT_THAT(ExplainFailure(facts, kNoNamespace), HasSubstr("chroot"));
  facts = Ordinary();
  facts.seccomp_mode = kSeccompFilterMode;
  EXPECT_THAT(ExplainFailure(facts, kNoNamespace), HasSubstr("system call filter"));
  facts = Ordinary();
  facts.apparmor_profile = "snap.x (enforce)";
  EXPECT_THAT(ExplainFailure(facts, kNoNamespace), HasSubstr("snap.x"));
}

}  // namespace
}  // namespace holdfast::sandbox
