#include "exec_policy/store/load.h"

#include <sys/stat.h>
#include <unistd.h>

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "exec_policy/store/rules_file.h"
#include "support/scratch_dir.h"

namespace holdfast::exec_policy {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class RuleLayerTest : public testing::Test {
 protected:
  RuleLayerTest() { EXPECT_EQ(::mkdir(rules_.c_str(), 0700), 0); }

  std::vector<std::string> Names() const {
    const auto files = ReadRuleLayer(rules_);
    EXPECT_TRUE(files.has_value()) << files.error().message;
    std::vector<std::string> names;
    if (!files) return names;
    for (const RulesText& file : *files) names.push_back(file.name.substr(rules_.size() + 1) + "=" + file.text);
    return names;
  }

  std::string Refusal() const {
    const auto files = ReadRuleLayer(rules_);
    return files ? "" : files.error().message;
  }

  support::ScratchDir scratch_;
  const std::string rules_ = scratch_.path() + "/rules";
};

TEST_F(RuleLayerTest, HasItsRulesFilesInTheOrderOfTheirNames) {
  scratch_.Write("rules/b.rules", "2");
  scratch_.Write("rules/a.rules", "1");
  scratch_.Write("rules/B.rules", "0");
  scratch_.Write("rules/a.rules.bak", "no");
  scratch_.Write("rules/readme", "no");
  EXPECT_THAT(Names(), ElementsAre("B.rules=0", "a.rules=1", "b.rules=2"));
}

TEST_F(RuleLayerTest, IsEmptyIfTheDirectoryDoesNotExist) {
  EXPECT_THAT(*ReadRuleLayer(rules_ + "/none"), IsEmpty());
  EXPECT_THAT(*ReadRuleLayer(scratch_.Write("file", "") + "/rules"), IsEmpty());
}

TEST_F(RuleLayerTest, PassesOverEverythingThatIsNoRegularFile) {
  const std::string outside = scratch_.Write("outside", "no");
  ASSERT_EQ(::symlink(outside.c_str(), (rules_ + "/link.rules").c_str()), 0);
  ASSERT_EQ(::symlink("nowhere", (rules_ + "/dead.rules").c_str()), 0);
  ASSERT_EQ(::mkfifo((rules_ + "/pipe.rules").c_str(), 0600), 0);
  ASSERT_EQ(::mkdir((rules_ + "/directory.rules").c_str(), 0700), 0);
  scratch_.Write("rules/real.rules", "yes");
  EXPECT_THAT(Names(), ElementsAre("real.rules=yes"));
}

TEST_F(RuleLayerTest, RefusesAFileThatOthersCanWrite) {
  const std::string file = scratch_.Write("rules/a.rules", "", 0646);
  EXPECT_THAT(Refusal(), HasSubstr(file + " can be written by other users"));
  ASSERT_EQ(::chmod(file.c_str(), 0644), 0);
  EXPECT_EQ(Refusal(), "");
}

TEST_F(RuleLayerTest, RefusesADirectoryThatOthersCanWrite) {
  ASSERT_EQ(::chmod(rules_.c_str(), 0777), 0);
  EXPECT_THAT(Refusal(), HasSubstr(rules_ + " can be written by other users"));
}

TEST_F(RuleLayerTest, RefusesAFileOfAnotherUser) {
  const std::string file = scratch_.Write("rules/a.rules", "");
  if (::chown(file.c_str(), 12345, 12345) != 0) GTEST_SKIP() << "only root can give files away";
  EXPECT_THAT(Refusal(), HasSubstr(file + " belongs to another user"));
}

TEST(TrustTest, TrustsTheUserAndRoot) {
  struct stat status{};
  status.st_mode = S_IFREG | 0644;
  EXPECT_TRUE(CheckTrust("f", status));
  status.st_uid = ::geteuid();
  EXPECT_TRUE(CheckTrust("f", status));
  status.st_uid = ::geteuid() + 1;
  EXPECT_FALSE(CheckTrust("f", status));
}

TEST(TrustTest, AGroupMayWriteOnlyIfItIsThePrivateOneOfTheOwner) {
  struct stat status{};
  status.st_mode = S_IFREG | 0664;
  status.st_uid = status.st_gid = ::geteuid();
  EXPECT_TRUE(CheckTrust("f", status));
  status.st_gid = ::geteuid() + 1;
  EXPECT_THAT(CheckTrust("f", status).error().message, HasSubstr("chmod go-w f"));
}

TEST(LoadPolicyTest, LayersComeBeforeFiles) {
  const support::ScratchDir scratch;
  scratch.Write("one/a.rules", "prefix_rule(['a'])\n");
  scratch.Write("two/a.rules", "prefix_rule(['a'], 'prompt')\n");
  const std::vector<std::string> files = {scratch.Write("f", "prefix_rule(['a'], 'forbidden')\n")};
  const std::vector<std::string> layers = {scratch.path() + "/one", scratch.path() + "/none", scratch.path() + "/two"};
  const auto policy = LoadPolicy(layers, files);
  ASSERT_TRUE(policy.has_value()) << policy.error().message;
  std::vector<Decision> decisions;
  for (const RuleMatch& match : policy->Evaluate(std::vector<std::string>{"a"}).matches) {
    decisions.push_back(match.decision);
  }
  EXPECT_THAT(decisions, ElementsAre(Decision::kAllow, Decision::kPrompt, Decision::kForbidden));
}

TEST(LoadPolicyTest, AFileThatTheUserNamesMayBeALink) {
  const support::ScratchDir scratch;
  const std::string file = scratch.Write("f", "prefix_rule(['a'])\n", 0666), link = scratch.path() + "/link";
  ASSERT_EQ(::symlink(file.c_str(), link.c_str()), 0);
  const auto policy = LoadPolicy({}, std::vector{link});
  ASSERT_TRUE(policy.has_value()) << policy.error().message;
  EXPECT_EQ(policy->rule_count(), 1u);
}

TEST(LoadPolicyTest, NamesTheFileThatCannotBeRead) {
  EXPECT_EQ(LoadPolicy({}, std::vector<std::string>{"/none/a.rules"}).error().message,
            "open /none/a.rules: No such file or directory");
}

TEST(LoadPolicyTest, WaitsForNothingButRegularFiles) {
  const support::ScratchDir scratch;
  const std::string pipe = scratch.path() + "/pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  for (const std::string& path : {std::string("/dev/zero"), pipe, scratch.path()}) {
    EXPECT_EQ(LoadPolicy({}, std::vector{path}).error().message, path + " is not a regular file");
  }
}

}  // namespace
}  // namespace holdfast::exec_policy
