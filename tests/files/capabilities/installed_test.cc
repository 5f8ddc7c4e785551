#include "files/capabilities/installed.h"

#include <filesystem>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/scratch_dir.h"

namespace holdfast::files {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class InstalledTest : public testing::Test {
 protected:
  Installed Find() const {
    return FindInstalled({.codex_home = Path("codex"), .user_home = Path("home"), .system = Path("etc")});
  }
  std::vector<std::string> Plugins() const {
    std::vector<std::string> ids;
    for (const InstalledPlugin& plugin : Find().plugins) ids.push_back(plugin.id + " " + plugin.version);
    return ids;
  }
  std::string Path(const std::string& name) const { return dir_.path() + "/" + name; }
  void MakePlugin(const std::string& name) const {
    dir_.Write("codex/plugins/cache/" + name + "/.codex-plugin/plugin.json", "{}");
  }

  support::ScratchDir dir_;
};

TEST_F(InstalledTest, LooksForSkillsInThreePlaces) {
  dir_.Write("etc/skills/c/SKILL.md", "---\nname: c\n---\nbody");
  dir_.Write("home/.agents/skills/b/SKILL.md", "b");
  dir_.Write("codex/skills/a/SKILL.md", "a");
  const Installed found = Find();
  ASSERT_EQ(found.skill_roots.size(), 3U);
  EXPECT_EQ(found.skill_roots[0].id, "codex-home-skills");
  EXPECT_EQ(found.skill_roots[1].id, "user-agent-skills");
  EXPECT_EQ(found.skill_roots[2].id, "system-skills");
  EXPECT_EQ(found.skill_roots[2].skills[0].instructions.contents, "---\nname: c\n---\n");
}

TEST_F(InstalledTest, MissesNoPlaceThatIsNotThere) {
  dir_.Write("codex/skills", "a file");
  const Installed found = Find();
  EXPECT_THAT(found.skill_roots, IsEmpty());
  EXPECT_THAT(found.plugins, IsEmpty());
  EXPECT_TRUE(found.has_all_plugins);
}

TEST_F(InstalledTest, FindsOneVersionOfEachPlugin) {
  for (const char* name : {"m/p/1.0.0", "m/p/10.0.0", "m/p/2.0.0", "m/q/local", "m/q/3.0.0", "l/p/x", "m/p1/1"})
    MakePlugin(name);
  EXPECT_THAT(Plugins(), ElementsAre("p1@m 1", "p@l x", "p@m 10.0.0", "q@m local"));
}

TEST_F(InstalledTest, IgnoresOtherNames) {
  for (const char* name : {".m/p/1", "m m/p/1", "m/.p/1", "m/p@x/1", "m/p/v 1"}) MakePlugin(name);
  dir_.Write("codex/plugins/cache/m/p/file", "");
  EXPECT_THAT(Plugins(), IsEmpty());
}

TEST_F(InstalledTest, FollowsNoLinkThatIsAVersion) {
  dir_.Write("elsewhere/1.0.0/.codex-plugin/plugin.json", "{}");
  std::filesystem::create_directories(Path("codex/plugins/cache/m/p"));
  std::filesystem::create_symlink(Path("elsewhere/1.0.0"), Path("codex/plugins/cache/m/p/1.0.0"));
  std::filesystem::create_symlink(Path("elsewhere"), Path("codex/plugins/cache/m/link"));
  EXPECT_THAT(Plugins(), ElementsAre("link@m 1.0.0"));
}

TEST_F(InstalledTest, ListsNoMoreThan512Plugins) {
  for (int i = 0; i < 513; ++i) MakePlugin(fmt::format("m/p{}/1", i));
  const Installed found = Find();
  EXPECT_EQ(found.plugins.size(), 512U);
  EXPECT_FALSE(found.has_all_plugins);
}

}  // namespace
}  // namespace holdfast::files
