#include "exec_server/capabilities/describe_installed.h"

#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace holdfast::exec_server {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

wire::SkillFiles SkillAt(const std::string& path, const std::string& yaml = "name: x\ndescription: d") {
  return {.instructions = {path, "---\n" + yaml + "\n---\n"}, .metadata = {}};
}

files::Installed OneRoot(std::vector<wire::SkillFiles> skills, std::vector<wire::CapabilityFile> namespaces = {}) {
  wire::DiscoveredRoot root;
  root.id = "codex-home-skills";
  root.path = "file:///c/skills";
  root.skills = std::move(skills);
  root.namespace_manifests = std::move(namespaces);
  files::Installed installed;
  installed.skill_roots.push_back(std::move(root));
  return installed;
}

files::Installed OnePlugin(const std::string& manifest, std::vector<wire::SkillFiles> skills = {}) {
  const wire::CapabilityFile file{"file:///p/1.0/.codex-plugin/plugin.json", manifest};
  files::InstalledPlugin plugin;
  plugin.id = "p@m";
  plugin.version = "1.0";
  plugin.files.path = "file:///p/1.0";
  plugin.files.plugin.emplace().manifest = file;
  plugin.files.namespace_manifests = {file};
  plugin.files.skills = std::move(skills);
  files::Installed installed;
  installed.plugins.push_back(std::move(plugin));
  return installed;
}

std::vector<std::string> NamesOf(const std::vector<wire::Skill>& skills) {
  std::vector<std::string> names;
  for (const auto& skill : skills) names.push_back(skill.name);
  return names;
}

TEST(DescribeInstalledTest, DescribesSkills) {
  auto installed =
      OneRoot({SkillAt("file:///c/skills/a/SKILL.md", "name: n\ndescription: d\nmetadata: {short-description: s}")});
  installed.skill_roots[0].skills[0].metadata = {"file:///c/skills/a/agents/openai.yaml", "policy: {}"};
  auto result = DescribeInstalled(std::move(installed));
  EXPECT_EQ(
      wire::Encode(std::move(result)),
      R"({"plugins":[],"skills":[{"name":"n","description":"d","shortDescription":"s",)"
      R"("path":"file:///c/skills/a/SKILL.md","discoveryRoot":{"id":"codex-home-skills","path":"file:///c/skills"},)"
      R"("dependencies":null,"policy":{"allowImplicitInvocation":null,"products":[]}}],"warnings":[]})");
}

TEST(DescribeInstalledTest, NamesASkillAfterItsDirectoryIfItHasNoName) {
  const auto result = DescribeInstalled(OneRoot({SkillAt("file:///c/skills/a%20b/SKILL.md", "description: d")}));
  EXPECT_THAT(NamesOf(result.skills), ElementsAre("a b"));
}

TEST(DescribeInstalledTest, LeavesOutSkillsThatMakeNoSenseAndSaysSoOnce) {
  const auto result =
      DescribeInstalled(OneRoot({SkillAt("file:///a", "name: x"), SkillAt("file:///b"), SkillAt("file:///c", "bad"),
                                 SkillAt("file:///d", fmt::format("name: {}\ndescription: d", std::string(65, 'n')))}));
  EXPECT_EQ(result.skills.size(), 1U);
  EXPECT_THAT(result.warnings, ElementsAre(HasSubstr("could not be read")));
}

TEST(DescribeInstalledTest, PutsTheNameOfTheNearestPluginBefore) {
  const auto result =
      DescribeInstalled(OneRoot({SkillAt("file:///c/skills/x/y/SKILL.md"), SkillAt("file:///c/skills/z/SKILL.md"),
                                 SkillAt("file:///c/skills/w/SKILL.md")},
                                {{"file:///c/.codex-plugin/plugin.json", R"({"name":"top"})"},
                                 {"file:///c/skills/x/.codex-plugin/plugin.json", "{}"},
                                 {"file:///c/skills/w/.codex-plugin/plugin.json", "bad"}}));
  EXPECT_THAT(NamesOf(result.skills), ElementsAre("x:x", "top:x", "top:x"));
}

TEST(DescribeInstalledTest, DescribesPlugins) {
  auto result = DescribeInstalled(OnePlugin(R"({"name":"n","interface":{"displayName":"D"},"mcpServers":{"a":{}}})",
                                            {SkillAt("file:///p/1.0/skills/a/SKILL.md")}));
  EXPECT_EQ(
      wire::Encode(std::move(result)),
      R"({"plugins":[{"id":"p@m","displayName":"D","remotePluginId":null,"version":"1.0","root":"file:///p/1.0",)"
      R"("files":{"manifest":{"path":"file:///p/1.0/.codex-plugin/plugin.json","contents":)"
      R"("{\"name\":\"n\",\"interface\":{\"displayName\":\"D\"},\"mcpServers\":{\"a\":{}}}"},)"
      R"("mcpConfig":{"path":"file:///p/1.0/.codex-plugin/plugin.json","contents":"{\"a\":{}}"},"appsConfig":null},)"
      R"("skills":[{"name":"n:x","description":"d","shortDescription":null,)"
      R"("path":"file:///p/1.0/skills/a/SKILL.md","dependencies":null,"policy":null}]}],"skills":[],"warnings":[]})");
}

TEST(DescribeInstalledTest, ShowsAPluginByItsVersionIfItHasNoName) {
  const auto result = DescribeInstalled(OnePlugin("{}", {SkillAt("file:///p/1.0/SKILL.md")}));
  ASSERT_EQ(result.plugins.size(), 1U);
  EXPECT_EQ(result.plugins[0].display_name, "1.0");
  EXPECT_THAT(NamesOf(result.plugins[0].skills), ElementsAre("1.0:x"));
}

TEST(DescribeInstalledTest, LeavesOutPluginsThatMakeNoSense) {
  auto without_manifest = OnePlugin("{}");
  without_manifest.plugins[0].files.plugin.reset();
  for (auto& installed : {OnePlugin("bad"), OnePlugin(R"({"name":3})"), without_manifest}) {
    const auto result = DescribeInstalled(installed);
    EXPECT_THAT(result.plugins, IsEmpty());
    EXPECT_EQ(result.warnings.size(), 1U);
  }
}

TEST(DescribeInstalledTest, PassesOnThatSomethingWasNotRead) {
  auto installed = OneRoot({});
  installed.skill_roots[0].warnings = {"read /c/skills/a: secret path"};
  installed.has_all_plugins = false;
  const auto result = DescribeInstalled(std::move(installed));
  EXPECT_THAT(result.warnings, ElementsAre(HasSubstr("could not be read"), HasSubstr("could not be read")));
}

TEST(DescribeInstalledTest, ListsNoMoreThan2048) {
  const auto result = DescribeInstalled(OneRoot(std::vector(2100, SkillAt("file:///a/SKILL.md"))));
  EXPECT_EQ(result.skills.size(), 2048U);
  EXPECT_THAT(result.warnings, ElementsAre(HasSubstr("more skills and plugins")));
}

TEST(DescribeInstalledTest, AnswersWithNoMoreThan4MiB) {
  files::Installed installed;
  for (int i = 0; i < 6; ++i) {
    auto one = OnePlugin(fmt::format(R"({{"x":"{}"}})", std::string(900'000, 'x')));
    installed.plugins.push_back(std::move(one.plugins[0]));
  }
  const auto result = DescribeInstalled(std::move(installed));
  EXPECT_EQ(result.plugins.size(), 4U);
  EXPECT_THAT(result.warnings, ElementsAre(HasSubstr("more skills and plugins")));
}

}  // namespace
}  // namespace holdfast::exec_server
