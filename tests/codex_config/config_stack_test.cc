#include "codex_config/config_stack.h"

#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/scratch_dir.h"

namespace holdfast::codex_config {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class ConfigStackTest : public testing::Test {
 protected:
  ConfigStackTest() {
    dir_.Write("work/.git/HEAD", "ref");
    for (const char* name : {"work", "work/sub", "work/sub/deep"}) {
      dir_.Write(std::string(name) + "/.codex/config.toml", fmt::format("model = \"{}\"\n", name));
    }
  }

  std::string Path(const std::string& name) const { return dir_.path() + "/" + name; }
  Result<Stack> Read(const std::string& cwd) const {
    return ReadConfig({.system = Path("etc"), .codex_home = Path("codex")}, Path(cwd));
  }
  // Returns the model of each layer.
  std::vector<std::string> Models(const std::string& cwd) const {
    std::vector<std::string> models;
    const auto stack = Read(cwd);
    if (!stack) return {stack.error().message};
    for (const Layer& layer : stack->layers) models.push_back(layer.table["model"].value_or(std::string("none")));
    return models;
  }
  void WriteUser(const std::string& text) const { dir_.Write("codex/config.toml", "model = \"user\"\n" + text); }
  std::string Project(const std::string& name, const std::string& level = "trusted") const {
    return fmt::format("[projects.\"{}\"]\ntrust_level = \"{}\"\n", Path(name), level);
  }

  support::ScratchDir dir_;
};

TEST_F(ConfigStackTest, IsEmptyWithoutFiles) { EXPECT_THAT(Models("work"), IsEmpty()); }

TEST_F(ConfigStackTest, HasTheSystemTheUserTheProjectAndWhatIsManaged) {
  dir_.Write("etc/config.toml", "model = \"system\"\n");
  dir_.Write("etc/managed_config.toml", "model = \"managed\"\n");
  WriteUser(Project("work"));
  EXPECT_THAT(Models("work"), ElementsAre("system", "user", "work", "managed"));
  const auto stack = Read("work");
  EXPECT_EQ(stack->system_layers, 1U);
  EXPECT_EQ(stack->layers[0].source, fmt::format("system ({}/etc/config.toml)", dir_.path()));
  EXPECT_EQ(stack->layers[1].source, fmt::format("user ({}/codex/config.toml)", dir_.path()));
  EXPECT_EQ(stack->layers[2].source, fmt::format("project ({}/work/.codex/config.toml)", dir_.path()));
  EXPECT_EQ(stack->layers[2].directory, Path("work/.codex"));
  EXPECT_EQ(stack->layers[3].source,
            fmt::format("legacy managed_config.toml ({}/etc/managed_config.toml)", dir_.path()));
}

TEST_F(ConfigStackTest, HasNothingOfAProjectThatIsNotTrusted) {
  WriteUser("");
  EXPECT_THAT(Models("work/sub/deep"), ElementsAre("user"));
  WriteUser(Project("work", "untrusted"));
  EXPECT_THAT(Models("work"), ElementsAre("user"));
  WriteUser(Project("."));
  EXPECT_THAT(Models("work"), ElementsAre("user"));
}

TEST_F(ConfigStackTest, HasEveryDirectoryOfATrustedProjectFromItsTop) {
  WriteUser(Project("work"));
  EXPECT_THAT(Models("work/sub/deep"), ElementsAre("user", "work", "work/sub", "work/sub/deep"));
  WriteUser(Project("work") + Project("work/sub", "untrusted"));
  EXPECT_THAT(Models("work/sub/deep"), ElementsAre("user", "work", "work/sub/deep"));
  WriteUser(Project("work/sub"));
  EXPECT_THAT(Models("work/sub/deep"), ElementsAre("user", "work/sub"));
}

TEST_F(ConfigStackTest, FindsTheTopOfAProjectByTheMarkersOfTheUser) {
  dir_.Write("work/sub/marker", "");
  WriteUser("project_root_markers = [\"marker\"]\n" + Project("work") + Project("work/sub"));
  EXPECT_THAT(Models("work/sub/deep"), ElementsAre("user", "work/sub", "work/sub/deep"));
  WriteUser("project_root_markers = []\n" + Project("work/sub"));
  EXPECT_THAT(Models("work/sub/deep"), ElementsAre("user"));
}

TEST_F(ConfigStackTest, TakesNoEmptyDirectoryForARepository) {
  std::filesystem::remove(Path("work/.git/HEAD"));
  WriteUser(Project("work"));
  EXPECT_THAT(Models("work/sub"), ElementsAre("user"));
}

TEST_F(ConfigStackTest, KnowsAProjectByItsRealPath) {
  std::filesystem::create_symlink(Path("work"), Path("link"));
  WriteUser(Project("work"));
  EXPECT_THAT(Models("link"), ElementsAre("user", "work"));
  WriteUser(Project("link"));
  EXPECT_THAT(Models("work"), ElementsAre("user"));
}

TEST_F(ConfigStackTest, TrustsAWorktreeThatItsRepositoryKnows) {
  dir_.Write("tree/.codex/config.toml", "model = \"tree\"\n");
  dir_.Write("tree/.git", fmt::format("gitdir: {}/work/.git/worktrees/tree\n", dir_.path()));
  WriteUser(Project("work"));
  EXPECT_THAT(Models("tree"), ElementsAre("user"));  // anybody can write such a .git
  dir_.Write("work/.git/worktrees/tree/gitdir", Path("tree/.git") + "\n");
  EXPECT_THAT(Models("tree"), ElementsAre("user", "tree"));
}

TEST_F(ConfigStackTest, LeavesWhereTheUserConnectsToTheUser) {
  dir_.Write("work/.codex/config.toml",
             "model = \"work\"\nnotify = [\"x\"]\nmodel_provider = \"x\"\nchatgpt_base_url = \"x\"\n"
             "openai_base_url = \"x\"\nexperimental_realtime_ws_base_url = \"x\"\n[model_providers.x]\n[otel]\n");
  WriteUser(Project("work"));
  const auto stack = Read("work");
  ASSERT_TRUE(stack);
  EXPECT_EQ(stack->layers[1].table.size(), 1U);
}

TEST_F(ConfigStackTest, FailsIfAFileMakesNoSense) {
  WriteUser("bad [\n");
  EXPECT_THAT(Models("work"), ElementsAre(HasSubstr("codex/config.toml:2")));
  WriteUser(Project("work", "maybe"));
  EXPECT_THAT(Models("work"), ElementsAre(HasSubstr("must be trusted or untrusted")));
  dir_.Write("codex/config.toml", "\xFF");
  EXPECT_THAT(Models("work"), ElementsAre(HasSubstr("is not UTF-8")));
  std::filesystem::remove(Path("codex/config.toml"));
  std::filesystem::create_directory(Path("codex/config.toml"));
  EXPECT_THAT(Models("work"), ElementsAre(HasSubstr("not a regular file")));
  EXPECT_EQ(Read("work").error().kind, ErrorKind::kSystem);
}

TEST_F(ConfigStackTest, HasTheRequirementsOfTheSystem) {
  const ConfigPlaces places{.system = Path("etc"), .codex_home = Path("codex")};
  EXPECT_THAT(ReadRequirements(places)->layers, IsEmpty());
  dir_.Write("etc/requirements.toml", "a = 1\n");
  const auto stack = ReadRequirements(places);
  ASSERT_TRUE(stack);
  EXPECT_EQ(stack->system_layers, 1U);
  EXPECT_EQ(stack->layers[0].source, Path("etc/requirements.toml"));
}

class CodexHomeTest : public testing::Test {
 protected:
  ~CodexHomeTest() override { ::unsetenv("CODEX_HOME"); }
  static void Set(const std::string& value) { ::setenv("CODEX_HOME", value.c_str(), 1); }
};

TEST_F(CodexHomeTest, IsInTheHomeDirectoryUnlessItIsNamed) {
  EXPECT_EQ(FindCodexHome("/home/u"), "/home/u/.codex");
  Set("");
  EXPECT_EQ(FindCodexHome("/home/u"), "/home/u/.codex");
}

TEST_F(CodexHomeTest, HasToExistIfItIsNamed) {
  const support::ScratchDir dir;
  std::filesystem::create_directory(dir.path() + "/real");
  std::filesystem::create_symlink("real", dir.path() + "/link");
  Set(dir.path() + "/link");
  EXPECT_EQ(FindCodexHome("/home/u"), dir.path() + "/real");
  Set(dir.path() + "/missing");
  const auto missing = FindCodexHome("/home/u");
  ASSERT_FALSE(missing);
  EXPECT_THAT(missing.error().message, HasSubstr("CODEX_HOME"));
  EXPECT_EQ(missing.error().kind, ErrorKind::kSystem);
}

TEST_F(CodexHomeTest, MayBeRelative) {
  Set(".");
  EXPECT_EQ(FindCodexHome("/home/u"), std::filesystem::current_path().string());
}

}  // namespace
}  // namespace holdfast::codex_config
