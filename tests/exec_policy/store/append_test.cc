#include "exec_policy/store/append.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/owned_fd.h"
#include "exec_policy/store/load.h"
#include "support/scratch_dir.h"
#include "support/small_tmpfs.h"

namespace holdfast::exec_policy {
namespace {

using ::testing::HasSubstr;

using Words = std::vector<std::string>;

class AppendRuleTest : public testing::Test {
 protected:
  Result<Appended> Append(const Words& prefix) const { return AppendRule(file_, prefix, Decision::kAllow); }

  std::string Content() const {
    std::ifstream file(file_, std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(file), {});
  }

  support::ScratchDir scratch_;
  const std::string file_ = scratch_.path() + "/home/rules/default.rules";
  const std::string git_line_ = "prefix_rule(pattern=[\"git\", \"push\"], decision=\"allow\")\n";
};

TEST_F(AppendRuleTest, MakesTheFileAndItsDirectoriesForTheOwnerAlone) {
  ASSERT_TRUE(Append({"git", "push"}));
  EXPECT_EQ(Content(), git_line_);
  struct stat status;
  ASSERT_EQ(::stat(file_.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600u & ~::umask(::umask(0)));
  ASSERT_EQ(::stat((scratch_.path() + "/home/rules").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0077, 0u);
}

TEST_F(AppendRuleTest, KeepsWhatIsThere) {
  scratch_.Write("home/rules/default.rules", "# mine\n");
  ASSERT_TRUE(Append({"git", "push"}));
  EXPECT_EQ(Content(), "# mine\n" + git_line_);
}

TEST_F(AppendRuleTest, EndsTheLastLineFirst) {
  scratch_.Write("home/rules/default.rules", "x = 1");
  ASSERT_TRUE(Append({"git", "push"}));
  EXPECT_EQ(Content(), "x = 1\n" + git_line_);
}

TEST_F(AppendRuleTest, DoesNotRepeatALine) {
  ASSERT_TRUE(Append({"git", "push"}));
  ASSERT_TRUE(Append({"ls"}));
  const std::string before = Content();
  EXPECT_EQ(Append({"git", "push"}).value(), Appended::kWasThere);
  EXPECT_EQ(Content(), before);
  EXPECT_EQ(Append({"git"}).value(), Appended::kYes);
  EXPECT_EQ(Content(), before + "prefix_rule(pattern=[\"git\"], decision=\"allow\")\n");
}

TEST_F(AppendRuleTest, TheRuleMatchesTheWordsAgain) {
  const Words prefix = {"a b", "\"", "\\", "\n\t\r\x01\x7f", "é", "", "'#", "{x}"};
  ASSERT_TRUE(Append(prefix));
  const auto policy = LoadPolicy({}, std::vector{file_});
  ASSERT_TRUE(policy.has_value()) << policy.error().message;
  EXPECT_EQ(policy->Evaluate(prefix).matches.at(0).matched_prefix, prefix);
}

TEST_F(AppendRuleTest, RefusesWhatNoRulesFileCanSay) {
  EXPECT_THAT(Append({}).error().message, HasSubstr("at least the name of a program"));
  EXPECT_THAT(Append({"ls", "\xff"}).error().message, HasSubstr("UTF-8"));
  EXPECT_EQ(Content(), "");
}

TEST_F(AppendRuleTest, RefusesALink) {
  const std::string target = scratch_.Write("target", "");
  scratch_.Write("home/rules/other", "");
  ASSERT_EQ(::symlink(target.c_str(), file_.c_str()), 0);
  EXPECT_FALSE(Append({"ls"}));
  EXPECT_EQ(Content(), "");
}

TEST_F(AppendRuleTest, RefusesAFileThatOthersCanWrite) {
  scratch_.Write("home/rules/default.rules", "", 0666);
  EXPECT_THAT(Append({"ls"}).error().message, HasSubstr("can be written by other users"));
  EXPECT_EQ(Content(), "");
}

TEST_F(AppendRuleTest, GivesUpIfTheLockIsHeldForTooLong) {
  scratch_.Write("home/rules/default.rules", "");
  const OwnedFd holder(::open(file_.c_str(), O_RDONLY | O_CLOEXEC));
  ASSERT_EQ(::flock(holder.get(), LOCK_EX), 0);
  const auto appended = AppendRule(file_, Words{"ls"}, Decision::kAllow, std::chrono::milliseconds(20));
  EXPECT_THAT(appended.error().message, HasSubstr("another process has held the lock for too long"));
  EXPECT_EQ(Content(), "");
}

TEST_F(AppendRuleTest, WritersAtTheSameTimeLoseNoRule) {
  std::vector<std::jthread> writers;
  for (int writer = 0; writer < 4; ++writer) {
    writers.emplace_back([this, writer] {
      for (int i = 0; i < 10; ++i) {
        const Words prefix = {"program" + std::to_string(writer), std::to_string(i)};
        EXPECT_TRUE(AppendRule(file_, prefix, Decision::kPrompt, std::chrono::minutes(1)));
        EXPECT_TRUE(AppendRule(file_, Words{"shared"}, Decision::kAllow, std::chrono::minutes(1)));
      }
    });
  }
  writers.clear();
  const auto policy = LoadPolicy({}, std::vector{file_});
  ASSERT_TRUE(policy.has_value()) << policy.error().message;
  EXPECT_EQ(policy->rule_count(), 41u);
}

// The limit of the file size lets the kernel write a part of the line and then kill the process.
TEST_F(AppendRuleTest, AProcessThatDiesInTheMiddleOfALineLeavesNoPartOfARule) {
  scratch_.Write("home/rules/default.rules", "prefix_rule(['ls'])\n");
  for (size_t written = 1; written < git_line_.size(); written += 13) {
    const rlimit limit = {Content().size() + written, RLIM_INFINITY};
    EXPECT_EXIT(
        {
          ::setrlimit(RLIMIT_FSIZE, &limit);
          (void)Append({"git", "push"});
        },
        testing::KilledBySignal(SIGXFSZ), "");
    const auto policy = LoadPolicy({}, std::vector{file_});
    ASSERT_TRUE(policy.has_value()) << policy.error().message;
    EXPECT_EQ(policy->rule_count(), 1u);
  }
  ASSERT_TRUE(Append({"git", "push"}));
  EXPECT_EQ(LoadPolicy({}, std::vector{file_})->rule_count(), 2u);
}

TEST_F(AppendRuleTest, AFullDiskLeavesTheFileAsItWas) {
  const support::SmallTmpfs disk(size_t{64} << 10);
  if (!disk.why_not().empty()) GTEST_SKIP() << disk.why_not();
  const std::string file = disk.path() + "/default.rules";
  ASSERT_TRUE(AppendRule(file, Words{"ls"}, Decision::kAllow));
  const auto appended = AppendRule(file, Words{std::string(100'000, 'x')}, Decision::kAllow);
  EXPECT_THAT(appended.error().message, HasSubstr("No space left on device"));
  std::ifstream content(file, std::ios::binary);
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(content), {}),
            "prefix_rule(pattern=[\"ls\"], decision=\"allow\")\n");
}

}  // namespace
}  // namespace holdfast::exec_policy
