#include "exec_server/processes/rules_files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/owned_fd.h"
#include "loop/event_loop.h"
#include "loop/scope.h"
#include "starlark/budget.h"
#include "support/loop_runner.h"
#include "support/scratch_dir.h"

namespace holdfast::exec_server {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using Loaded = Result<RulesFiles::PolicyPtr>;

constexpr size_t kMaxFileBytes = starlark::Limits{}.text_bytes;
constexpr const char* kRule = "prefix_rule(pattern=[\"a\"])\n";

class RulesFilesTest : public testing::Test {
 protected:
  static loop::Task<> Keep(RulesFiles& files, std::vector<std::string> paths, std::optional<Loaded>& loaded) {
    loaded.emplace(co_await files.Load(std::move(paths)));
  }
  Loaded Load(RulesFiles& files, std::vector<std::string> paths) {
    std::optional<Loaded> loaded;
    loop::Scope scope;
    scope.Start(Keep(files, std::move(paths), loaded));
    EXPECT_TRUE(support::RunUntil(loop_, [&] { return loaded.has_value(); }));
    return *loaded;
  }
  std::string Refused(std::vector<std::string> paths) {
    const Loaded loaded = Load(files_, std::move(paths));
    if (loaded) return "was loaded";
    EXPECT_EQ(loaded.error().kind, ErrorKind::kInvalidParams);
    return loaded.error().message;
  }

  loop::EventLoop loop_;
  loop::WorkerPool workers_{loop_, {}};
  RulesFiles files_{workers_, 0s};
  support::ScratchDir dir_;
};

TEST_F(RulesFilesTest, ReadsTheRulesOfAllFiles) {
  const std::string one = dir_.Write("one", kRule), two = dir_.Write("two", "prefix_rule(pattern=[\"b\"])\n");
  const Loaded loaded = Load(files_, {one, "file://" + two});
  ASSERT_TRUE(loaded) << loaded.error().message;
  EXPECT_EQ((*loaded)->rule_count(), 2u);
  EXPECT_EQ((*Load(files_, {}))->rule_count(), 0u);
}

TEST_F(RulesFilesTest, UsesAPolicyAgainUntilAFileChanges) {
  const std::string path = dir_.Write("rules", kRule);
  const auto first = Load(files_, {path}).value();
  EXPECT_EQ(Load(files_, {path}).value(), first);
  EXPECT_NE(Load(files_, {path, path}).value(), first);
  dir_.Write("rules", std::string(kRule) + "\n");
  EXPECT_NE(Load(files_, {path}).value(), first);
}

// The times of a file are coarse: a change that follows at once may leave no trace.
TEST_F(RulesFilesTest, DoesNotKeepThePolicyOfAFileThatWasJustChanged) {
  const std::string path = dir_.Write("rules", kRule);
  RulesFiles files(workers_);
  const auto first = Load(files, {path}).value();
  EXPECT_NE(Load(files, {path}).value(), first);
}

TEST_F(RulesFilesTest, SaysWhatIsWrong) {
  EXPECT_THAT(Refused({"relative"}), HasSubstr("execPolicy.rules: "));
  EXPECT_THAT(Refused({dir_.path() + "/none"}), HasSubstr("none: No such file or directory"));
  EXPECT_THAT(Refused({dir_.path()}), HasSubstr("not a regular file"));
  EXPECT_THAT(Refused({dir_.Write("bad", "\nprefix_rule(pattern=[])\n")}), HasSubstr("bad:2:"));
  EXPECT_THAT(Refused(std::vector(RulesFiles::kMaxFiles + 1, dir_.Write("one", ""))), HasSubstr("more than 64 files"));
}

TEST_F(RulesFilesTest, DoesNotWaitForAPipe) {
  const std::string pipe = dir_.path() + "/pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_THAT(Refused({pipe}), HasSubstr("not a regular file"));
  const OwnedFd silent_writer(::open(pipe.c_str(), O_RDWR | O_CLOEXEC));
  ASSERT_TRUE(silent_writer.is_open());
  EXPECT_THAT(Refused({pipe}), HasSubstr("not a regular file"));
}

TEST_F(RulesFilesTest, RefusesDevices) {
  for (const char* device : {"/dev/zero", "/dev/null", "/dev/ptmx"}) {
    EXPECT_THAT(Refused({device}), HasSubstr("not a regular file"));
  }
}

// The message about a mistake shows a line of the file, and this file has the secrets of the server.
TEST_F(RulesFilesTest, RefusesTheEnvironmentOfTheServer) {
  EXPECT_THAT(Refused({"/proc/self/environ"}), HasSubstr("a file of /proc"));
  ASSERT_EQ(::symlink("/proc/self/environ", (dir_.path() + "/link").c_str()), 0);
  EXPECT_THAT(Refused({dir_.path() + "/link"}), HasSubstr("a file of /proc"));
}

TEST_F(RulesFilesTest, RefusesAFileThatIsTooLong) {
  EXPECT_THAT(Refused({dir_.Write("long", std::string(kMaxFileBytes + 1, '\n'))}), HasSubstr("long has more than"));
}

TEST_F(RulesFilesTest, RefusesFilesThatAreTooLongTogether) {
  const std::string longest = dir_.Write("longest", std::string(kMaxFileBytes, '\n'));
  std::vector<std::string> paths(RulesFiles::kMaxBytes / kMaxFileBytes, longest);
  paths.push_back(dir_.Write("short", "\n"));
  EXPECT_THAT(Refused(paths), HasSubstr("more than 16 MiB together"));
}

}  // namespace
}  // namespace holdfast::exec_server
