#include "doctor/startup_warnings.h"

#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sandbox/backend.h"
#include "sandbox/bubblewrap/bubblewrap.h"
#include "support/scratch_dir.h"

namespace holdfast::doctor {
namespace {

using support::ScratchDir;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

// Returns text that makes a program look like a bubblewrap: the search for one looks for the options in its bytes.
std::string Options() {
  std::string text = "\n: '";
  for (const std::string_view option : sandbox::kNeededOptions) text += std::string(option) + '\0';
  return text + "'\n";
}

class StartupWarningsTest : public testing::Test {
 protected:
  // Installs a bwrap that runs the script.
  void Install(std::string_view name, std::string_view script) const {
    tree_.Write(name, "#!/bin/sh\n" + std::string(script) + "\nexit\n" + Options(), 0755);
  }
  std::vector<std::string> WarningsAfter(const std::optional<sandbox::NativeFailure>& native,
                                         sandbox::Backend backend = sandbox::Backend::kAuto) const {
    return StartupWarnings({.program = tree_.path() + "/own/holdfast",
                            .sandbox_program = sandbox_program_,
                            .path_variable = tree_.path() + "/bin",
                            .cwd = "/nowhere",
                            .trust = {.owner = ::geteuid(), .top = tree_.path(), .only_in = {}}},
                           facts_, backend, native);
  }
  // Returns the warnings on a machine where the native backend does not work, without the one that tells that.
  std::vector<std::string> Warnings() const {
    std::vector<std::string> warnings = WarningsAfter(kNoClone3);
    std::erase_if(warnings, [](const std::string& warning) { return warning.starts_with("The native backend"); });
    return warnings;
  }

  static constexpr sandbox::NativeFailure kNoClone3 = {.step = sandbox::NativeStep::kNamespaces, .error = ENOSYS};

  ScratchDir tree_;
  std::string sandbox_program_ = tree_.Write("own/holdfast-linux-sandbox", "", 0755);
  sandbox::HostFacts facts_;
};

TEST_F(StartupWarningsTest, NoneWhenTheNativeBackendWorks) { EXPECT_THAT(WarningsAfter(std::nullopt), IsEmpty()); }

TEST_F(StartupWarningsTest, TellWhyTheNativeBackendDoesNotWork) {
  Install("bin/bwrap", "true");
  facts_.kernel_release = "5.10.0";
  EXPECT_THAT(WarningsAfter(kNoClone3),
              ElementsAre("The native backend, which is the fastest, does not work here: clone3: Function not "
                          "implemented. This kernel is older than 5.12, which the native backend needs. Use another "
                          "kernel, or bubblewrap."));
}

TEST_F(StartupWarningsTest, NoneWhenBubblewrapWorks) {
  Install("bin/bwrap", "true");
  EXPECT_THAT(Warnings(), IsEmpty());
}

TEST_F(StartupWarningsTest, TellThatTheBundledOneIsUsed) {
  Install("own/holdfast-resources/bwrap", "true");
  EXPECT_THAT(Warnings(), ElementsAre(AllOf(HasSubstr("PATH"), HasSubstr("own/holdfast-resources/bwrap"))));
}

// The native backend works here, but is not the one that was chosen.
TEST_F(StartupWarningsTest, TellThatTheBundledOneIsUsedBecauseBubblewrapWasChosen) {
  Install("own/holdfast-resources/bwrap", "true");
  EXPECT_THAT(WarningsAfter(std::nullopt, sandbox::Backend::kBubblewrap),
              ElementsAre(AllOf(HasSubstr("PATH"), HasSubstr("own/holdfast-resources/bwrap"))));
  EXPECT_THAT(WarningsAfter(std::nullopt, sandbox::Backend::kAuto), IsEmpty());
}

TEST_F(StartupWarningsTest, TellThatANativeBackendThatWasChosenHasNoReplacement) {
  Install("bin/bwrap", "touch " + tree_.path() + "/was_run");
  EXPECT_THAT(WarningsAfter(kNoClone3, sandbox::Backend::kNative),
              ElementsAre(HasSubstr("will be refused: the native backend does not work here: clone3")));
  EXPECT_FALSE(std::filesystem::exists(tree_.path() + "/was_run"));
}

TEST_F(StartupWarningsTest, TellThatThereIsNone) {
  EXPECT_THAT(Warnings(), ElementsAre(HasSubstr("Install bubblewrap")));
}

TEST_F(StartupWarningsTest, TellThatTheSandboxProgramIsMissing) {
  Install("bin/bwrap", "true");
  sandbox_program_ = tree_.path() + "/elsewhere/holdfast-linux-sandbox";
  EXPECT_THAT(Warnings(),
              ElementsAre(AllOf(HasSubstr("will be refused"), HasSubstr(sandbox_program_ + " is missing"))));
}

TEST_F(StartupWarningsTest, TellOfEverythingThatIsMissing) {
  sandbox_program_ = tree_.path() + "/elsewhere/holdfast-linux-sandbox";
  EXPECT_THAT(Warnings(), ElementsAre(HasSubstr(sandbox_program_), HasSubstr("Install bubblewrap")));
}

TEST_F(StartupWarningsTest, TellWhyThereAreNoUserNamespaces) {
  Install("bin/bwrap", "echo 'bwrap: setting up uid map: Permission denied' >&2; exit 1");
  facts_.apparmor_restricts_userns = true;
  EXPECT_THAT(Warnings(), ElementsAre(HasSubstr("AppArmor")));
}

TEST_F(StartupWarningsTest, AreSilentAboutOtherFailures) {
  Install("bin/bwrap", "echo 'bwrap: execvp /bin/true: No such file or directory' >&2; exit 1");
  EXPECT_THAT(Warnings(), IsEmpty());
}

TEST_F(StartupWarningsTest, NameWsl1AndRunNothing) {
  Install("bin/bwrap", "touch " + tree_.path() + "/was_run");
  facts_.wsl = sandbox::Wsl::kWsl1;
  EXPECT_THAT(Warnings(), ElementsAre(HasSubstr("WSL 2")));
}

TEST_F(StartupWarningsTest, DoNotWaitForABubblewrapThatHangs) {
  Install("bin/bwrap", "sleep 1000");
  const auto start = std::chrono::steady_clock::now();
  EXPECT_THAT(Warnings(), IsEmpty());
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(10));
}

}  // namespace
}  // namespace holdfast::doctor
