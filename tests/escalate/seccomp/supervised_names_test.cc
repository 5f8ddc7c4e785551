// Programs that are called by other names than the one that a rule forbids: the rule applies to the file, whatever path
// leads to it.
#include <unistd.h>

#include <filesystem>
#include <memory>
#include <ostream>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "escalate/seccomp/supervised_fixture.h"
#include "exec_policy/policy.h"
#include "support/required_program.h"

namespace holdfast::escalate {
namespace {

using testing::HasSubstr;

// The words DIR and NAME in a script stand for the directory and the name of the forbidden program, and PROGRAM for
// both.
struct Spelling {
  std::string name;
  Words words;
};

void PrintTo(const Spelling& spelling, std::ostream* out) { *out << spelling.name; }

Words Bash(const std::string& script) { return {"/bin/bash", "-c", script}; }
Words Caller(const std::string& act) { return {HOLDFAST_EXEC_CALLER, act, "PROGRAM"}; }
Words Python(const std::string& call) {
  return {"/usr/bin/python3", "-c", "import os\ntry: " + call + "\nexcept OSError as e: print('failed', e)"};
}

const Spelling kSpellings[] = {
    {"AsItIs", Bash("PROGRAM")},
    {"WithADot", Bash("DIR/./NAME")},
    {"WithEmptyComponents", Bash("/DIR//NAME")},
    {"UpAndDown", Bash("DIR/sub/../NAME")},
    {"AboveTheRoot", Bash("/../..DIR/NAME")},
    {"Relative", Bash("cd DIR; ./NAME")},
    {"RelativeFromBelow", Bash("cd DIR/sub; ../NAME")},
    {"FoundInThePath", Bash("PATH=DIR/.; NAME")},
    {"ALink", Bash("DIR/link")},
    {"ALinkInADirectory", Bash("DIR/sub/link")},
    {"AChainOfLinks", Bash("DIR/chain")},
    {"ALinkToTheDirectory", Bash("DIR/directory/NAME")},
    {"UpFromALink", Bash("DIR/elsewhere/../NAME")},
    {"AMadeLink", Bash("cd DIR/sub; ln -s ../NAME made; ./made")},
    {"TheRootOfTheProcess", Bash("/proc/self/root/DIR/NAME")},
    {"TheDirectoryOfTheProcess", Bash("cd DIR; /proc/self/cwd/NAME")},
    {"TheRootOfItsThread", Bash("/proc/thread-self/root/DIR/NAME")},
    {"TheDirectoryOfTheShell", Bash("cd DIR; /proc/$$/cwd/NAME; :")},
    {"ADescriptorOfTheDirectory", Bash("exec 5< DIR; /proc/self/fd/5/NAME; :")},
    {"ADescriptor", Bash("exec 5< PROGRAM; /dev/fd/5")},
    {"AnotherNameInArgv", Bash("exec -a harmless DIR/link")},
    {"ADescriptorAndNoPath", Caller("descriptor")},
    {"AnotherDirectory", Caller("directory")},
    {"ALinkToADescriptor", Caller("proc-link")},
    {"ADirectoryAndAPathThatGoesUp", Python("os.chdir('DIR/sub'); os.execv('../sub/.././NAME', ['x'])")},
    {"ADeletedDirectory",
     Python("os.mkdir('DIR/gone'); os.chdir('DIR/gone'); os.rmdir('DIR/gone'); os.execv('../NAME', ['x'])")},
    {"AnInterpreter", Bash("printf '#!DIR/./NAME\\n' > DIR/script; chmod +x DIR/script; DIR/script")},
    {"TheInterpreterOfAnInterpreter",
     Bash("printf '#!PROGRAM\n' > DIR/inner; printf '#!DIR/inner\n' > DIR/script; chmod +x DIR/inner DIR/script; "
          "DIR/script")},
    {"AnInterpreterThatIsALink", Bash("printf '#!DIR/link -x\\n' > DIR/script; chmod +x DIR/script; DIR/script")},
};

class SupervisedNamesTest : public SupervisedFixture, public testing::WithParamInterface<Spelling> {
 protected:
  SupervisedNamesTest() {
    std::filesystem::copy("/bin/true", program());
    std::filesystem::create_directory(directory_ + "/sub");
    std::filesystem::create_directory(directory_ + "/sub/sub");
    std::filesystem::create_symlink("forbidden", directory_ + "/link");
    std::filesystem::create_symlink("../link", directory_ + "/sub/link");
    std::filesystem::create_symlink(directory_ + "/sub/link", directory_ + "/chain");
    std::filesystem::create_symlink(".", directory_ + "/directory");
    std::filesystem::create_symlink("sub/sub/..", directory_ + "/elsewhere");
  }

  std::string program() const { return directory_ + "/forbidden"; }

  SupervisorSettings Rules(const std::string& text, Strictness strictness) {
    const exec_policy::RulesText file{.name = "test.rules", .text = text};
    auto parsed = exec_policy::Policy::Parse({&file, 1});
    EXPECT_TRUE(parsed) << parsed.error().message;
    return {.judge =
                [policy = std::make_shared<const exec_policy::Policy>(*std::move(parsed))](
                    const exec_policy::ExecAttempt& attempt) {
                  return exec_policy::Judge(*policy, attempt, exec_policy::ProgramNames::kResolvedPath);
                },
            .strictness = strictness};
  }

  Words Filled(Words words) const {
    for (std::string& word : words) {
      for (const auto& [what, with] :
           {std::pair<std::string, std::string>{"PROGRAM", program()}, {"DIR", directory_}, {"NAME", "forbidden"}}) {
        for (size_t at = 0; (at = word.find(what, at)) != std::string::npos; at += with.size()) {
          word.replace(at, what.size(), with);
        }
      }
    }
    return words;
  }

  const std::string directory_ = std::filesystem::canonical(scratch_.path());
};

// The base name is allowed, which must not help.
TEST_P(SupervisedNamesTest, AForbiddenProgramIsDeniedByEveryName) {
  if (GetParam().words.front().ends_with("python3") && !support::RequireProgram("python3")) return;
  const std::string rules = "prefix_rule(['" + program() + "'], 'forbidden', justification='not here')\n" +
                            "prefix_rule(['forbidden'])\nprefix_rule(['link'])\nprefix_rule(['made'])\n";
  for (const Strictness strictness : {Strictness::kUsual, Strictness::kStrict}) {
    std::filesystem::remove(directory_ + "/sub/made");
    const CommandOutcome outcome = Run(Filled(GetParam().words), Rules(rules, strictness));
    EXPECT_THAT(outcome.err, HasSubstr("Execution denied: not here"));
    EXPECT_EQ(started_outside_, 0u);
  }
}

// What the rule does not name runs by each of these names.
TEST_P(SupervisedNamesTest, WithoutARuleEveryNameRuns) {
  if (GetParam().words.front().ends_with("python3") && !support::RequireProgram("python3")) return;
  for (const Strictness strictness : {Strictness::kUsual, Strictness::kStrict}) {
    std::filesystem::remove(directory_ + "/sub/made");
    const CommandOutcome outcome = Run(Filled(GetParam().words), Rules("", strictness));
    EXPECT_EQ(outcome, (CommandOutcome{.status = 0, .out = "", .err = ""}));
  }
}

INSTANTIATE_TEST_SUITE_P(Spellings, SupervisedNamesTest, testing::ValuesIn(kSpellings),
                         [](const auto& one) { return one.param.name; });

}  // namespace
}  // namespace holdfast::escalate
