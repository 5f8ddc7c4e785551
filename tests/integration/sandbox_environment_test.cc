// Tests of the command's environment. bubblewrap runs outside of the sandbox, and no variable of the command may
// influence it.
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "support/proc.h"
#include "support/sandbox_workspace.h"

extern char** environ;

namespace holdfast::support {
namespace {

using namespace std::string_literals;
using Strings = std::vector<std::string>;

// While this object exists, processes that the test starts have these entries in their environment.
class Environment {
 public:
  explicit Environment(Strings entries) : entries_(std::move(entries)), before_(environ) {
    for (std::string& entry : entries_) pointers_.push_back(entry.data());
    pointers_.push_back(nullptr);
    environ = pointers_.data();
  }
  ~Environment() { environ = before_; }
  Environment(const Environment&) = delete;
  Environment& operator=(const Environment&) = delete;

 private:
  Strings entries_;
  std::vector<char*> pointers_;
  char** const before_;
};

// Returns the command line from the helper on, without the words that set the user and the environment.
Strings HelperWords(const SandboxWorkspace& workspace, const Strings& command) {
  const Strings words = workspace.InsideWords("");
  const auto begin = std::ranges::find_if(words, [](const std::string& word) { return word.ends_with("-sandbox"); });
  Strings all(begin, std::ranges::find(words, "--permission-profile") + 3);
  all.insert(all.end(), command.begin(), command.end());
  return all;
}

class SandboxEnvironmentTest : public testing::TestWithParam<SandboxCase> {
 protected:
  void SetUp() override {
    if (const std::string reason = workspace_.WhyNot(); !reason.empty()) GTEST_SKIP() << reason;
  }

  SandboxWorkspace workspace_{GetParam()};
};

INSTANTIATE_TEST_SUITE_P(, SandboxEnvironmentTest,
                         testing::ValuesIn(UsersWith({Means::kNative, Means::kSystemBubblewrap})), CaseName);

class BubblewrapEnvironmentTest : public SandboxEnvironmentTest {};

INSTANTIATE_TEST_SUITE_P(, BubblewrapEnvironmentTest, testing::ValuesIn(UsersWith({Means::kSystemBubblewrap})),
                         CaseName);

// The entries are the same name twice, and a text that is no variable at all. Without PATH the bundled bubblewrap is
// used.
TEST_P(SandboxEnvironmentTest, ReachesTheCommandAsItIs) {
  if (GetParam().user != ::geteuid()) GTEST_SKIP() << "the test sets the environment, and cannot change the user";
  const Strings words = HelperWords(workspace_, {"/bin/cat", "/proc/self/environ"});
  const Strings entries = {
      "ASAN_OPTIONS=detect_leaks=0", "B=2", "A=1", "odd", "B=\xff=3", "=", "PWD=/nowhere", "LD_DEBUG="};
  std::string expected;
  for (const std::string& entry : entries) expected += entry + "\0"s;
  const Environment environment(entries);
  const Outcome outcome = Program(words).Finish();
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(outcome.out, expected);
}

TEST_P(BubblewrapEnvironmentTest, IsEmpty) {
  workspace_.AddVariable("HOLDFAST_ENVIRONMENT_TEST=1");
  Program helper(workspace_.InsideWords("echo $HOLDFAST_ENVIRONMENT_TEST; exec sleep 1000"));
  helper.AwaitOutput("1\n");
  int seen = 0;
  for (const pid_t child : ChildrenOf(helper.pid())) {
    if (!ReadProcFile(child, "cmdline").value_or("").starts_with("bwrap")) continue;
    EXPECT_EQ(ReadProcFile(child, "environ").value_or(""), "");
    ++seen;
  }
  EXPECT_EQ(seen, 1);
}

// The library writes the name of every program that loads it into a file.
TEST_P(BubblewrapEnvironmentTest, BringsNoLibraryIntoBubblewrap) {
  const std::string library = workspace_.elsewhere() + "/planted.so", note = workspace_.elsewhere() + "/note";
  const std::string source = fmt::format(
      R"(cat > planted.c << 'end'
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
unsigned la_version(unsigned version) {{ return version; }}
__attribute__((constructor)) static void Load(void) {{
  char path[4096];
  snprintf(path, sizeof path, "{}.%s", program_invocation_short_name);
  open(path, O_CREAT | O_WRONLY, 0600);
}}
end
for cc in cc gcc clang clang-19; do $cc -shared -fPIC -o {} planted.c && exit 0; done; exit 1)",
      note, library);
  if (workspace_.Outside(source).status != 0) GTEST_SKIP() << "needs a C compiler";
  for (const char* variable : {"LD_PRELOAD", "LD_AUDIT"}) {
    SCOPED_TRACE(variable);
    const std::string set = fmt::format("{}={}", variable, library);
    EXPECT_EQ(workspace_.Outside(set + " bwrap --version").status, 0);
    EXPECT_TRUE(std::filesystem::remove(note + ".bwrap")) << "then it does nothing";
    SandboxWorkspace other(GetParam());
    other.AddVariable(set);
    const Outcome outcome = other.Inside("echo $" + std::string(variable));
    EXPECT_EQ(outcome.out, library + "\n") << outcome.err;
    EXPECT_FALSE(std::filesystem::exists(note + ".bwrap"));
  }
}

}  // namespace
}  // namespace holdfast::support
