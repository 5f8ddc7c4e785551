// Each test takes one thing away from a child of its own, which then tries the native backend. The child is in a user
// namespace of its own where the machine itself would have to be changed otherwise.
#include "sandbox/native/trial.h"

#include <sys/mount.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/restricted_child.h"
#include "support/scratch_dir.h"
#include "sys/io.h"
#include "sys/spawn.h"

namespace holdfast::sandbox {
namespace {

using support::CoverProc;
using support::EnterChroot;
using support::EnterOwnNamespaces;
using support::MakeProcReadOnly;
using support::RefuseCalls;
using support::SetNamespaceLimit;
using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

// Returns the facts of a machine that has nothing special but its kernel.
HostFacts WithKernel(std::string release) {
  HostFacts facts;
  facts.kernel_release = std::move(release);
  return facts;
}

struct Setting {
  NativeNeeds needs = {};
  HostFacts facts = WithKernel("6.1.0");
  bool gathers_facts = false;  // those of the child take the place of `facts`
};

// Returns what a child finds out after `take_away`: "works", or the failure, the cause and the remedy.
std::string Found(const std::function<bool()>& take_away, const Setting& setting = {}) {
  auto pipe = sys::MakePipe(sys::OurEnd::kRead);
  auto in_child = [&] {
    std::string text = "the test could not be set up";
    if (take_away()) {
      const auto failure = TryNative(setting.needs);
      const HostFacts facts = setting.gathers_facts ? GatherHostFacts() : setting.facts;
      text = failure ? Text(*failure) + ". " + Explain(facts, *failure) : "works";
    }
    return sys::Write(pipe->write_end.get(), text.data(), text.size()) > 0 ? 0 : 1;
  };
  const auto child = sys::Spawn(sys::Sharing::kNothing, in_child);
  if (!child) return child.error().message;
  EXPECT_EQ(sys::AwaitStatus(*child), 0);
  std::string text(4096, '\0');
  const ssize_t size = sys::Read(pipe->read_end.get(), text.data(), text.size());
  text.resize(size > 0 ? static_cast<size_t>(size) : 0);
  return text;
}

std::string MountsAndNamespaces() {
  std::ifstream mounts("/proc/self/mountinfo");
  std::string text(std::istreambuf_iterator<char>(mounts), {});
  for (const char* const kind : {"user", "mnt", "pid", "ipc", "uts", "cgroup", "net"}) {
    text += std::filesystem::read_symlink(fmt::format("/proc/self/ns/{}", kind)).string() + '\n';
  }
  return text;
}

class NativeTrialTest : public testing::Test {
 protected:
  void SetUp() override {
    if (Found([] { return EnterOwnNamespaces(); }) != "works") GTEST_SKIP() << "user namespaces are not available";
  }
};

TEST_F(NativeTrialTest, LeavesTheMountsAndTheNamespacesOfTheCallerAlone) {
  const std::string before = MountsAndNamespaces();
  EXPECT_EQ(TryNative({}), std::nullopt);
  EXPECT_EQ(MountsAndNamespaces(), before);
}

TEST_F(NativeTrialTest, NamesTheLimitThatAllowsNoNamespaces) {
  for (const std::string kind : {"user", "mnt", "pid", "ipc", "uts", "cgroup", "net"}) {
    const std::string limit = fmt::format("max_{}_namespaces", kind);
    const std::string found =
        Found([&] { return EnterOwnNamespaces() && SetNamespaceLimit(limit, "0"); }, {.gathers_facts = true});
    EXPECT_THAT(found, AllOf(StartsWith("clone3: No space left on device. "), HasSubstr("user." + limit))) << kind;
  }
}

TEST_F(NativeTrialTest, ANetworkOfTheHostNeedsNoNamespace) {
  const auto without_networks = [] { return EnterOwnNamespaces() && SetNamespaceLimit("max_net_namespaces", "0"); };
  EXPECT_EQ(Found(without_networks, {.needs = {.own_network = false}}), "works");
}

TEST_F(NativeTrialTest, NamesAChroot) {
  const support::ScratchDir root;
  const auto enter = [&] { return EnterOwnNamespaces() && EnterChroot(root.path().c_str()); };
  EXPECT_THAT(Found(enter, {.gathers_facts = true}),
              AllOf(StartsWith("clone3: Operation not permitted. "), HasSubstr("chroot"), HasSubstr("pivot_root")));
}

// The filter of a container cannot see the flags of clone3, so it pretends that the kernel does not know the call.
TEST_F(NativeTrialTest, TellsAFilterThatAllowsNoNamespacesFromAnOldKernel) {
  const auto in_container = [] { return RefuseCalls({{SYS_clone3, ENOSYS}, {SYS_unshare, EPERM}}); };
  HostFacts docker = WithKernel("6.1.0");
  docker.container = "docker";
  EXPECT_THAT(
      Found(in_container, {.facts = docker}),
      AllOf(StartsWith("clone3: Function not implemented. The container (docker) does not allow new namespaces"),
            HasSubstr("seccomp=unconfined")));
}

TEST_F(NativeTrialTest, NamesAnOldKernelOrAFilterThatHidesACall) {
  const std::pair<int, std::string_view> calls[] = {{SYS_clone3, "clone3"},
                                                    {SYS_mount_setattr, "mount_setattr /"},
                                                    {SYS_open_tree, "open_tree /"},
                                                    {SYS_fsopen, "mount a tmpfs"},
                                                    {SYS_move_mount, "move_mount /"}};
  for (const auto& [number, step] : calls) {
    const auto hide = [call = number] { return RefuseCalls({{call, ENOSYS}}); };
    const std::string beginning = fmt::format("{}: Function not implemented. ", step);
    EXPECT_THAT(Found(hide, {.facts = WithKernel("5.10.0-28-amd64")}),
                AllOf(StartsWith(beginning), HasSubstr("This kernel is older than 5.12")));
    EXPECT_THAT(Found(hide, {.facts = WithKernel("5.12.0")}),
                AllOf(StartsWith(beginning), HasSubstr("start this process without the filter")));
  }
}

TEST_F(NativeTrialTest, NamesAppArmorWhereRightsAreMissingInside) {
  const auto take_rights = [] { return RefuseCalls({{SYS_mount_setattr, EPERM}}); };
  HostFacts ubuntu = WithKernel("6.8.0");
  ubuntu.apparmor_restricts_userns = true;
  EXPECT_THAT(Found(take_rights, {.facts = ubuntu}),
              AllOf(StartsWith("mount_setattr /: Operation not permitted. AppArmor"),
                    HasSubstr("`userns,` for holdfast-linux-sandbox")));
  EXPECT_EQ(Explain(ubuntu, {.step = NativeStep::kIdMaps, .error = EACCES}),
            Explain(ubuntu, {.step = NativeStep::kReadOnlyRoot, .error = EPERM}));
}

TEST_F(NativeTrialTest, NamesAProcThatIsReadOnly) {
  const auto seal = [] { return EnterOwnNamespaces() && MakeProcReadOnly(); };
  EXPECT_THAT(Found(seal), AllOf(StartsWith("write the maps of ids in /proc/self: Read-only file system. "),
                                 HasSubstr("mount -o remount,rw /proc")));
}

TEST_F(NativeTrialTest, NamesAMissingProc) {
  const auto cover = [] { return EnterOwnNamespaces() && ::mount("none", "/proc", "tmpfs", 0, nullptr) == 0; };
  EXPECT_THAT(Found(cover), HasSubstr("There is no usable /proc here"));
}

TEST_F(NativeTrialTest, ACoveredProcCannotBeMountedAfreshButDoneWithout) {
  const auto cover = [] { return EnterOwnNamespaces() && CoverProc(); };
  EXPECT_THAT(Found(cover, {.gathers_facts = true}),
              AllOf(StartsWith("mount a fresh /proc: Operation not permitted. "), HasSubstr("--no-proc")));
  EXPECT_EQ(Found(cover, {.needs = {.fresh_proc = false}}), "works");
}

// A hostile process can use up processes and memory. That must not make the helper go on with another backend.
TEST_F(NativeTrialTest, AShortageTellsNothingAboutTheMachine) {
  for (const int shortage : {EAGAIN, ENOMEM}) {
    EXPECT_EQ(Found([&] { return RefuseCalls({{SYS_clone3, shortage}}); }), "works") << shortage;
    EXPECT_EQ(Found([&] { return RefuseCalls({{SYS_fsopen, shortage}}); }), "works") << shortage;
  }
}

TEST(NativeNeedsTest, AreThoseOfThePlan) {
  NamespacePlan plan;
  plan.own_network = false;
  EXPECT_FALSE(NeedsOf(plan).own_network);
  EXPECT_FALSE(NeedsOf(plan).fresh_proc);
  plan.own_network = true;
  plan.mounts.emplace_back(FreshProc{});
  EXPECT_TRUE(NeedsOf(plan).own_network);
  EXPECT_TRUE(NeedsOf(plan).fresh_proc);
}

}  // namespace
}  // namespace holdfast::sandbox
