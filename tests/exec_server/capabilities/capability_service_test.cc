#include "exec_server/capabilities/capability_service.h"

#include <unistd.h>

#include <array>
#include <cstdlib>
#include <string>

#include "base/environment_variable.h"
#include "exec_server/files/fs_fixture.h"

namespace holdfast::exec_server {
namespace {

using testing::HasSubstr;

// The home directory of the server is the directory of the test.
class CapabilityServiceTest : public FsFixture {
 protected:
  void SetUp() override {
    home_ = EnvironmentVariable("HOME").value_or("/");
    ::setenv("HOME", Path().c_str(), 1);
    ::unsetenv("CODEX_HOME");
    FsFixture::SetUp();
  }
  void TearDown() override {
    FsFixture::TearDown();
    ::setenv("HOME", home_.c_str(), 1);
    ::unsetenv("CODEX_HOME");
  }

  static std::string Roots(const std::vector<std::string>& paths) {
    std::string roots;
    for (const std::string& path : paths) {
      roots += fmt::format(R"({}{{"id":"r","path":{}}})", roots.empty() ? "" : ",", support::Quoted(path));
    }
    return fmt::format(R"({{"roots":[{}]}})", roots);
  }
  std::string Cwd(std::string_view more = "") const {
    return fmt::format(R"({{"cwd":{}{}}})", support::Quoted(Path()), more);
  }
  std::string ConfigParams(std::string_view paths) const {
    return Cwd(fmt::format(R"(,"configPaths":{},"requirementsPaths":[])", paths));
  }

 private:
  std::string home_;
};

TEST_F(CapabilityServiceTest, AnswersForEachRootInItsOrder) {
  MakeFile("a/SKILL.md", "one");
  MakeFile("b/SKILL.md", "two");
  const Message answer = Do("capabilityRoots/discoverV1", Roots({Path("b"), Path("none"), Path("a")}));
  EXPECT_EQ(answer.Text("result.roots.0.skills.0.instructions.contents"), "two");
  EXPECT_THAT(answer.Text("result.roots.1.error"), HasSubstr("No such file"));
  EXPECT_EQ(answer.Text("result.roots.2.skills.0.instructions.contents"), "one");
}

TEST_F(CapabilityServiceTest, RefusesMoreThan128Roots) {
  EXPECT_EQ(CodeOf("capabilityRoots/discoverV1", Roots(std::vector(128, Path("none")))), 0);
  EXPECT_EQ(CodeOf("capabilityRoots/discoverV1", Roots(std::vector(129, Path("none")))), -32600);
}

TEST_F(CapabilityServiceTest, ReadsNoMoreForOneRequestThanForTwoRoots) {
  for (int i = 0; i < 20; ++i) MakeFile(fmt::format("big/{}/SKILL.md", i), std::string(1 << 20, 'x'));
  const Message answer = Do("capabilityRoots/discoverV1", Roots({Path("big"), Path("big"), Path("big")}));
  EXPECT_GT(answer.text().size(), size_t{30} << 20);
  EXPECT_LT(answer.text().size(), size_t{33} << 20);
  EXPECT_THAT(answer.Text("result.roots.2.warnings.0"), HasSubstr("left out"));
}

TEST_F(CapabilityServiceTest, AnswersWithWhatTheClientAccepts) {
  for (int i = 0; i < 4; ++i) MakeFile(fmt::format("big/{}/SKILL.md", i), std::string(100'000, 'x'));
  Client& client = ConnectReady(R"(,"capabilities":{"maxMessageBytes":300000})");
  const Message answer = Call(client, "capabilityRoots/discoverV1", Roots({Path("big")}));
  EXPECT_LT(answer.text().size(), 300'000U);
  EXPECT_GT(answer.text().size(), 200'000U);
}

TEST_F(CapabilityServiceTest, FindsWhatIsInstalledInTheHomeDirectory) {
  MakeFile(".codex/skills/a/SKILL.md", "---\nname: a\ndescription: d\n---\nbody");
  MakeFile(".codex/plugins/cache/m/p/1/.codex-plugin/plugin.json", R"({"name":"n"})");
  const Message answer = Do("capabilities/discoverV2", Cwd());
  EXPECT_EQ(answer.Text("result.skills.0.name"), "a");
  EXPECT_EQ(answer.Text("result.plugins.0.displayName"), "n");
}

TEST_F(CapabilityServiceTest, FindsWhatIsInstalledInCodexHome) {
  MakeFile("other/skills/a/SKILL.md", "---\nname: a\ndescription: d\n---\nbody");
  ::setenv("CODEX_HOME", Path("other").c_str(), 1);
  EXPECT_EQ(Do("capabilities/discoverV2", Cwd()).Text("result.skills.0.name"), "a");
  ::setenv("CODEX_HOME", Path("missing").c_str(), 1);
  EXPECT_EQ(CodeOf("capabilities/discoverV2", Cwd()), -32603);
}

TEST_F(CapabilityServiceTest, HasTheConfigurationThatWasAskedFor) {
  MakeFile(".codex/config.toml", "model = \"m\"\n[mcp_servers.a]\ncommand = \"x\"\n");
  const Message answer = Do("environmentConfig/read", ConfigParams(R"([["mcp_servers"]])"));
  EXPECT_EQ(answer.Text("result.config.layers.0.toml"), "[mcp_servers.a]\ncommand = \"x\"\n");
  EXPECT_EQ(answer.Text("result.config.layers.0.baseDir"), FileUri(Path(".codex")));
  EXPECT_EQ(answer.Text("result.userHomeDir"), FileUri(Path()));
  std::array<char, 256> name{};
  ASSERT_EQ(::gethostname(name.data(), name.size() - 1), 0);
  EXPECT_EQ(answer.Text("result.hostname"), name.data());
}

TEST_F(CapabilityServiceTest, RefusesPathsOfNoUse) {
  std::string many = R"(["k"])", deep = R"("k")";
  for (int i = 0; i < 256; ++i) many += R"(,["k"])";
  for (int i = 0; i < 64; ++i) deep += R"(,"k")";
  for (const std::string& paths : {std::string("[]"), std::string("[[]]"), "[" + many + "]", "[[" + deep + "]]"}) {
    EXPECT_EQ(CodeOf("environmentConfig/read", ConfigParams(paths)), -32602) << paths.substr(0, 20);
  }
}

TEST_F(CapabilityServiceTest, SaysThatTheConfigurationMakesNoSense) {
  MakeFile(".codex/config.toml", "bad [");
  EXPECT_EQ(CodeOf("environmentConfig/read", ConfigParams(R"([["model"]])")), -32603);
}

}  // namespace
}  // namespace holdfast::exec_server
