#include "sandboxee/sandboxee_fixture.h"

#include <csignal>
#include <string>

#include <gtest/gtest.h>

#include "support/eventually.h"
#include "support/proc.h"

namespace holdfast::sandboxee {
namespace {

INSTANTIATE_TEST_SUITE_P(, SandboxeeTest,
                         testing::Combine(testing::Values(User::kRoot, User::kOrdinary),
                                          testing::Values(Means::kNative, Means::kSystemBubblewrap)),
                         CombinationName);

// The bundled bubblewrap carries out the same plans as the system's, so a few tables suffice for it.
class BundledSandboxeeTest : public SandboxeeTest {};

INSTANTIATE_TEST_SUITE_P(, BundledSandboxeeTest,
                         testing::Combine(testing::Values(User::kRoot, User::kOrdinary),
                                          testing::Values(Means::kBundledBubblewrap)),
                         CombinationName);

TEST_P(BundledSandboxeeTest, RefusesActsOnFiles) { ExpectRefused(FileActs()); }
TEST_P(BundledSandboxeeTest, RefusesMounts) { ExpectRefused(MountActs()); }
TEST_P(BundledSandboxeeTest, AllowsWhatProgramsNeed) { ExpectAllowed(AllowedActs()); }

TEST_P(SandboxeeTest, RefusesActsOnFiles) { ExpectRefused(FileActs()); }
TEST_P(SandboxeeTest, RefusesActsOnProtectedPaths) { ExpectRefused(ProtectedPathActs()); }
TEST_P(SandboxeeTest, RefusesActsThroughDescriptors) { ExpectRefused(DescriptorActs()); }
TEST_P(SandboxeeTest, RefusesChangesOfStandardInput) { ExpectRefused(StandardInputActs()); }
TEST_P(SandboxeeTest, RefusesChangesOfDevices) { ExpectRefused(DeviceActs()); }
TEST_P(SandboxeeTest, RefusesSetIds) { ExpectRefused(SetIdActs()); }
TEST_P(SandboxeeTest, RefusesReads) { ExpectRefused(ReadActs()); }
TEST_P(SandboxeeTest, RefusesActsOnTheNetwork) { ExpectRefused(NetworkActs()); }
TEST_P(SandboxeeTest, RefusesActsOnProcesses) { ExpectRefused(ProcessActs()); }
TEST_P(SandboxeeTest, RefusesActsOnTheFirstProcess) { ExpectRefused(FirstProcessActs()); }
TEST_P(SandboxeeTest, RefusesMounts) { ExpectRefused(MountActs()); }
TEST_P(SandboxeeTest, RefusesNamespaces) { ExpectRefused(NamespaceActs()); }
TEST_P(SandboxeeTest, RefusesActsOnTheKernel) { ExpectRefused(KernelActs()); }
TEST_P(SandboxeeTest, RefusesPrivileges) { ExpectRefused(PrivilegeActs()); }
TEST_P(SandboxeeTest, RefusesWhatIsDeniedWhereTheRootMayBeWritten) { ExpectRefused(RootWriteActs()); }
TEST_P(SandboxeeTest, HasItsDevicesWhereTheRootMayBeWritten) { ExpectAllowed(AllowedRootWriteActs()); }
TEST_P(SandboxeeTest, AllowsWhatProgramsNeed) { ExpectAllowed(AllowedActs()); }

TEST_P(SandboxeeTest, LeavesNoProcessBehind) {
  constexpr Act leave[] = {{.name = "leave a process", .words = "leave_process"}};
  const Tree tree(uid());
  const std::string mark = "SANDBOXEE=" + tree.path();
  EXPECT_EQ(Do(Side::kInside, tree, leave, {mark}).front().status, 0);
  // The reaper, which removes the placeholders, learns of the end a moment later.
  EXPECT_TRUE(support::Eventually([&] { return support::LivingWithVariable(mark).empty(); }));
  EXPECT_EQ(Do(Side::kOutside, tree, leave, {mark}).front().status, 0);
  const auto left = support::LivingWithVariable(mark);
  EXPECT_EQ(left.size(), 1u);
  for (const pid_t pid : left) ::kill(pid, SIGKILL);
}

}  // namespace
}  // namespace holdfast::sandboxee
