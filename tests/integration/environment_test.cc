// Tests of what environment/info tells about the surroundings of the server.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <string>

#include "base/file_uri.h"
#include "base/version.h"
#include "support/rpc_client.h"
#include "support/server_process.h"

namespace holdfast::support {
namespace {

using ::testing::StartsWith;

Message InfoWith(const std::string& variable) {
  ServerProcess server = ServerProcess::Start({.env = {variable}});
  RpcClient client = RpcClient::Ready(server.url());
  Message info = client.Call("environment/info");
  client.Disconnect();
  return info;
}

TEST(EnvironmentTest, TellsWhereTemporaryFilesGo) {
  const Message own = InfoWith("TMPDIR=/no such/dir");
  EXPECT_EQ(own.Text("result.tempDir"), "file:///no%20such/dir");
  EXPECT_EQ(own.Size("result.temporaryDirectories"), 1u);
  EXPECT_EQ(own.Text("result.temporaryDirectories.0"), "file:///no%20such/dir");
  for (const char* useless : {"TMPDIR=", "TMPDIR=relative"}) {
    const Message usual = InfoWith(useless);
    EXPECT_EQ(usual.Text("result.tempDir"), "file:///tmp") << useless;
    EXPECT_EQ(usual.Size("result.temporaryDirectories"), 0u) << useless;
  }
}

TEST(EnvironmentTest, TellsTheHomeOfTheUser) {
  EXPECT_EQ(InfoWith("HOME=/no/such/home").Text("result.userHomeDir"), "file:///no/such/home");
  for (const char* useless : {"HOME=", "HOME=relative"}) {
    EXPECT_THAT(InfoWith(useless).Text("result.userHomeDir"), StartsWith("file:///")) << useless;
  }
}

TEST(EnvironmentTest, TellsTheShellOfTheUserWhateverTheVariableSays) {
  const Message info = InfoWith("SHELL=/no/such/shell");
  const std::string path = info.Text("result.shell.path");
  EXPECT_EQ(::access(path.c_str(), X_OK), 0) << path;
  EXPECT_EQ(info.Text("result.shell.name"), std::filesystem::path(path).filename());
}

// Published clients compare the version with that of the first server that has what they want.
TEST(EnvironmentTest, TellsWhichServerItSpeaksLikeAndWhichItIs) {
  EXPECT_EQ(InfoWith("A=1").Text("result.executorVersion"), fmt::format("0.169.0+holdfast.{}", kVersion));
}

TEST(EnvironmentTest, NamesTheBuildOfTheServer) {
  const std::string id = InfoWith("A=1").Text("result.providerId");
  EXPECT_THAT(id, testing::MatchesRegex("sha256:[0-9a-f]{64}"));
  EXPECT_EQ(InfoWith("B=2").Text("result.providerId"), id);
}

TEST(EnvironmentTest, TellsTheSameAsInitialize) {
  ServerProcess server = ServerProcess::Start();
  RpcClient client(OpenChannel(server.url()));
  const Message initialized = client.Initialize();
  client.Notify("initialized");
  const std::string info = client.Call("environment/info").text();
  const std::string members = info.substr(info.find(R"("result":)") + 9);
  EXPECT_THAT(initialized.text(), testing::HasSubstr(R"("environmentInfo":)" + members.substr(0, members.size() - 1)));
  EXPECT_EQ(initialized.Text("result.environmentInfo.cwd"), FileUri(std::filesystem::current_path().string()));
}

}  // namespace
}  // namespace holdfast::support
