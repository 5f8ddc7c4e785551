#include "files/capabilities/scan_root.h"

#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/file_uri.h"
#include "support/scratch_dir.h"

namespace holdfast::files {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class ScanRootTest : public testing::Test {
 protected:
  wire::DiscoveredRoot Scan(const std::string& name = "root",
                            CapabilityReader::Part part = CapabilityReader::Part::kWhole) {
    return ScanCapabilityRoot("id", Path(name), room_, part);
  }
  std::string Path(const std::string& name) const { return dir_.path() + "/" + name; }
  // Returns a path of the result, relative to the scratch directory.
  std::string Short(const wire::CapabilityFile& file) const {
    const std::string path = ParsePath(file.path).value_or("?");
    return path.starts_with(dir_.path() + "/") ? path.substr(dir_.path().size() + 1) : path;
  }
  std::vector<std::string> SkillsOf(const wire::DiscoveredRoot& root) const {
    std::vector<std::string> paths;
    for (const auto& skill : root.skills) paths.push_back(Short(skill.instructions));
    return paths;
  }
  std::vector<std::string> NamespacesOf(const wire::DiscoveredRoot& root) const {
    std::vector<std::string> paths;
    for (const auto& file : root.namespace_manifests) paths.push_back(Short(file));
    return paths;
  }
  void Write(const std::string& name, std::string_view text = "text") const { dir_.Write(name, text); }

  support::ScratchDir dir_;
  ScanRoom room_;
};

TEST_F(ScanRootTest, FindsSkillsAnywhereInTheOrderOfTheirPaths) {
  for (const char* name :
       {"root/skills/b/SKILL.md", "root/SKILL.md", "root/.hidden/SKILL.md", "root/skills/a/x/SKILL.md",
        "root/skills/a/skill.md", "root/node_modules/SKILL.md", "root/skills/a/README.md"}) {
    Write(name);
  }
  const auto found = Scan();
  EXPECT_EQ(found.id, "id");
  EXPECT_EQ(found.path, FileUri(Path("root")));
  EXPECT_THAT(SkillsOf(found), ElementsAre("root/.hidden/SKILL.md", "root/SKILL.md", "root/node_modules/SKILL.md",
                                           "root/skills/a/x/SKILL.md", "root/skills/b/SKILL.md"));
  EXPECT_EQ(found.skills[0].instructions.contents, "text");
  EXPECT_THAT(found.warnings, IsEmpty());
  EXPECT_FALSE(found.error || found.plugin);
}

TEST_F(ScanRootTest, LooksSixLevelsDeep) {
  Write("root/1/2/3/4/5/6/SKILL.md");
  Write("root/1/2/3/4/5/6/agents/openai.yaml", "deep");
  Write("root/1/2/3/4/5/6/7/SKILL.md");
  const auto found = Scan();
  EXPECT_THAT(SkillsOf(found), ElementsAre("root/1/2/3/4/5/6/SKILL.md"));
  ASSERT_TRUE(found.skills[0].metadata);
  EXPECT_EQ(found.skills[0].metadata->contents, "deep");
}

TEST_F(ScanRootTest, FollowsLinksToDirectoriesButTakesNoLinkForASkill) {
  Write("elsewhere/SKILL.md");
  Write("secret.md", "secret");
  std::filesystem::create_directories(Path("root/file"));
  std::filesystem::create_symlink(Path("elsewhere"), Path("root/link"));
  std::filesystem::create_symlink(Path("root"), Path("root/loop"));
  std::filesystem::create_symlink(Path("secret.md"), Path("root/file/SKILL.md"));
  EXPECT_THAT(SkillsOf(Scan()), ElementsAre("root/link/SKILL.md"));
}

TEST_F(ScanRootTest, BlocksOnNoFifo) {
  std::filesystem::create_directories(Path("root/.codex-plugin"));
  ASSERT_EQ(::mkfifo(Path("root/SKILL.md").c_str(), 0600), 0);
  ASSERT_EQ(::mkfifo(Path("root/.codex-plugin/plugin.json").c_str(), 0600), 0);
  const auto found = Scan();
  EXPECT_THAT(found.skills, IsEmpty());
  EXPECT_FALSE(found.plugin);
}

TEST_F(ScanRootTest, SaysThatARootIsNotADirectory) {
  Write("file");
  EXPECT_THAT(Scan("file").error.value_or(""), HasSubstr("is not a directory"));
  EXPECT_THAT(Scan("missing").error.value_or(""), HasSubstr("No such file"));
}

TEST_F(ScanRootTest, WarnsOfFilesThatItLeavesOut) {
  Write("root/a/SKILL.md", "\xFF");
  Write("root/b/SKILL.md", std::string((1 << 20) + 1, 'x'));
  Write("root/c/SKILL.md", std::string(1 << 20, 'x'));
  Write("root/c/agents/openai.yaml", "\xFF");
  const auto found = Scan();
  EXPECT_THAT(SkillsOf(found), ElementsAre("root/c/SKILL.md"));
  EXPECT_FALSE(found.skills[0].metadata);
  EXPECT_THAT(found.warnings, ElementsAre(HasSubstr("a/SKILL.md: is not UTF-8"), HasSubstr("b/SKILL.md"),
                                          HasSubstr("openai.yaml: is not UTF-8")));
}

TEST_F(ScanRootTest, ReadsNoMoreThanItHasRoomFor) {
  for (int i = 0; i < 4; ++i) Write(fmt::format("root/{}/SKILL.md", i), std::string(1000, 'x'));
  room_.bytes = 3000;
  const auto found = Scan();
  EXPECT_EQ(found.skills.size(), 2U);
  EXPECT_THAT(found.warnings, ElementsAre(HasSubstr("left out")));
  EXPECT_LT(room_.bytes, 1000U);
}

TEST_F(ScanRootTest, CountsWhatTheTextIsInJson) {
  Write("root/SKILL.md", std::string(1000, '\x01'));
  room_.bytes = 3000;
  EXPECT_THAT(Scan().skills, IsEmpty());
}

TEST_F(ScanRootTest, StopsInATreeThatIsTooLarge) {
  for (int i = 0; i < 5; ++i) Write(fmt::format("root/{}/SKILL.md", i));
  room_.directories = 3;
  auto found = Scan();
  EXPECT_EQ(found.skills.size(), 2U);
  EXPECT_THAT(found.warnings, ElementsAre(HasSubstr("too many")));
  room_ = {.entries = 6};
  found = Scan();
  EXPECT_EQ(found.skills.size(), 1U);
  EXPECT_THAT(found.warnings, ElementsAre(HasSubstr("too many")));
}

TEST_F(ScanRootTest, KeepsTheFrontMatterOnlyIfTheRestIsNotWanted) {
  Write("root/SKILL.md", "---\nname: x\n---\nbody");
  EXPECT_EQ(Scan("root", CapabilityReader::Part::kFrontMatter).skills[0].instructions.contents, "---\nname: x\n---\n");
}

TEST_F(ScanRootTest, FindsThePluginOfTheRoot) {
  Write("root/.claude-plugin/plugin.json", "ignored");
  Write("root/.codex-plugin/plugin.json", R"({"apps":"./conf/apps.json"})");
  Write("root/.mcp.json", "servers");
  Write("root/.app.json", "ignored");
  Write("root/conf/apps.json", "apps");
  const auto found = Scan();
  ASSERT_TRUE(found.plugin && found.plugin->mcp_config && found.plugin->apps_config);
  EXPECT_EQ(Short(found.plugin->manifest), "root/.codex-plugin/plugin.json");
  EXPECT_EQ(found.plugin->mcp_config->contents, "servers");
  EXPECT_EQ(Short(*found.plugin->apps_config), "root/conf/apps.json");
  EXPECT_THAT(NamespacesOf(found), ElementsAre("root/.codex-plugin/plugin.json"));
}

TEST_F(ScanRootTest, TakesTheNextManifestIfOneCannotBeRead) {
  Write("root/.codex-plugin/plugin.json", "\xFF");
  std::filesystem::create_directories(Path("root/.claude-plugin/plugin.json"));
  Write("root/.cursor-plugin/plugin.json", "{}");
  const auto found = Scan();
  ASSERT_TRUE(found.plugin);
  EXPECT_EQ(Short(found.plugin->manifest), "root/.cursor-plugin/plugin.json");
  EXPECT_THAT(found.warnings, ElementsAre(HasSubstr("is not UTF-8")));
}

TEST_F(ScanRootTest, StaysBelowThePluginWhateverTheManifestNames) {
  Write("secret", "secret");
  Write("root/.codex-plugin/plugin.json", R"({"mcpServers":"./../secret","apps":"/etc/passwd"})");
  Write("root/.mcp.json", "servers");
  const auto found = Scan();
  ASSERT_TRUE(found.plugin && found.plugin->mcp_config);
  EXPECT_EQ(found.plugin->mcp_config->contents, "servers");
  EXPECT_FALSE(found.plugin->apps_config);
  EXPECT_THAT(found.warnings, ElementsAre(HasSubstr("stay below"), HasSubstr("begin with ./")));
}

TEST_F(ScanRootTest, NamesSpacesByTheNearestManifestAboveAndThoseBelow) {
  Write(".codex-plugin/plugin.json", "far");
  Write("a/.codex-plugin/plugin.json", "near");
  Write("a/b/root/x/.claude-plugin/plugin.json", "below");
  Write("a/b/root/x/SKILL.md");
  const auto found = Scan("a/b/root");
  EXPECT_FALSE(found.plugin);
  EXPECT_THAT(NamespacesOf(found), ElementsAre("a/.codex-plugin/plugin.json", "a/b/root/x/.claude-plugin/plugin.json"));
}

}  // namespace
}  // namespace holdfast::files
