#include "mcp/shell_tool.h"

#include <chrono>
#include <string>
#include <string_view>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "wire/encode.h"

namespace holdfast::mcp {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;

sandbox::SandboxSpec SandboxWith(sandbox::Network network) {
  sandbox::SandboxSpec sandbox;
  sandbox.profile.policy.network = network;
  return sandbox;
}

class ShellToolTest : public testing::Test {
 protected:
  Result<ShellArguments> Decode(const std::string& json) {
    TRY(const wire::Json arguments, document_.Parse(json));
    return DecodeShellArguments(arguments);
  }

  wire::Document document_;
};

TEST_F(ShellToolTest, DescribesItselfInJson) {
  const wire::RawJson description = DescribeShellTool();
  const auto json = document_.Parse(description.text);
  ASSERT_TRUE(json) << json.error().message;
  EXPECT_EQ(json->Find("name").string(), "shell");
  const wire::Json schema = json->Find("inputSchema");
  EXPECT_EQ(schema.Find("properties").size(), 4u);
  EXPECT_EQ(schema.Find("required").size(), 2u);
  EXPECT_EQ(json->Find("annotations").Find("readOnlyHint").boolean(), false);
  EXPECT_EQ(json->Find("annotations").Find("destructiveHint").boolean(), true);
}

TEST_F(ShellToolTest, DescribesEveryMemberOfItsResult) {
  wire::Document result_document;
  const std::string result = wire::Encode(ShellResult{});
  const auto shown = result_document.Parse(result);
  ASSERT_TRUE(shown);
  const wire::RawJson description = DescribeShellTool();
  const auto json = document_.Parse(description.text);
  ASSERT_TRUE(json);
  const wire::Json schema = json->Find("outputSchema");
  EXPECT_EQ(schema.Find("properties").size(), shown->size());
  EXPECT_EQ(schema.Find("required").size(), shown->size());
  shown->ForEachMember([&](std::string_view name, wire::Json) {
    EXPECT_TRUE(schema.Find("properties").Find(name).is_object()) << name;
  });
}

TEST_F(ShellToolTest, ReadsItsArguments) {
  const auto arguments = Decode(R"({"command":"ls","workdir":"/w","timeout_ms":5,"login":false,"extra":1})");
  ASSERT_TRUE(arguments) << arguments.error().message;
  EXPECT_EQ(arguments->command, "ls");
  EXPECT_EQ(arguments->workdir, "/w");
  EXPECT_EQ(TimeLimitOf(*arguments), 5ms);
}

TEST_F(ShellToolTest, HasDefaultsForWhatIsAbsentOrNull) {
  for (const char* json :
       {R"({"command":"","workdir":"/"})", R"({"command":"","workdir":"/","timeout_ms":null,"login":null})"}) {
    const auto arguments = Decode(json);
    ASSERT_TRUE(arguments) << arguments.error().message;
    EXPECT_EQ(TimeLimitOf(*arguments), 10s);
    EXPECT_EQ(arguments->login, std::nullopt);
  }
}

TEST_F(ShellToolTest, RefusesArgumentsThatCannotBeServed) {
  const std::pair<const char*, const char*> cases[] = {
      {"null", "arguments: expected an object"},
      {R"({"workdir":"/"})", "command: is missing"},
      {R"({"command":"ls"})", "workdir: is missing"},
      {R"({"command":1,"workdir":"/"})", "command: expected a string"},
      {R"({"command":"ls","workdir":"w"})", "workdir: \"w\" is not an absolute path"},
      {R"({"command":"ls","workdir":""})", "workdir: \"\" is not an absolute path"},
      {R"({"command":"ls","workdir":"/","timeout_ms":-1})", "timeout_ms: "},
      {R"({"command":"l\u0000s","workdir":"/"})", "command: contains a NUL"},
      {R"({"command":"ls","workdir":"/\u0000"})", "workdir: contains a NUL"},
  };
  for (const auto& [json, complaint] : cases) {
    const auto arguments = Decode(json);
    ASSERT_FALSE(arguments) << json;
    EXPECT_EQ(arguments.error().kind, ErrorKind::kInvalidParams);
    EXPECT_THAT(arguments.error().message, HasSubstr(complaint));
  }
}

TEST_F(ShellToolTest, BoundsTheTimeLimit) {
  const auto arguments = Decode(R"({"command":"","workdir":"/","timeout_ms":18446744073709551615})");
  ASSERT_TRUE(arguments);
  EXPECT_EQ(TimeLimitOf(*arguments), 24h * 365);
}

TEST_F(ShellToolTest, UsesALoginShellUnlessTheClientSaysNo) {
  const sandbox::SandboxSpec sandbox;
  ShellArguments arguments{.command = "ls", .workdir = "/w", .timeout_ms = {}, .login = {}};
  EXPECT_THAT(ShellCommand("/bin/sh", arguments, {}, sandbox).argv, ElementsAre("/bin/sh", "-lc", "ls"));
  arguments.login = true;
  EXPECT_THAT(ShellCommand("/bin/sh", arguments, {}, sandbox).argv, ElementsAre("/bin/sh", "-lc", "ls"));
  arguments.login = false;
  const process::Command command = ShellCommand("/bin/sh", arguments, {}, sandbox);
  EXPECT_THAT(command.argv, ElementsAre("/bin/sh", "-c", "ls"));
  EXPECT_EQ(command.program, "/bin/sh");
  EXPECT_EQ(command.cwd, "/w");
}

TEST_F(ShellToolTest, TellsTheCommandThatTheNetworkIsOff) {
  const process::Environment own = {{"API_KEY", "k"}, {"PATH", "/bin"}};
  const ShellArguments arguments{.command = "", .workdir = "/", .timeout_ms = {}, .login = {}};
  const sandbox::SandboxSpec closed = SandboxWith(sandbox::Network::kRestricted);
  EXPECT_THAT(ShellCommand("/bin/sh", arguments, own, closed).env,
              ElementsAre(Pair("API_KEY", "k"), Pair("CODEX_SANDBOX_NETWORK_DISABLED", "1"), Pair("PATH", "/bin")));
  const sandbox::SandboxSpec open = SandboxWith(sandbox::Network::kEnabled);
  EXPECT_EQ(ShellCommand("/bin/sh", arguments, own, open).env, own);
}

TEST_F(ShellToolTest, WithholdsWhatLeadsToAServer) {
  EXPECT_THAT(EnvironmentOfCommands({{"A", "1"},
                                     {"BASH_EXEC_WRAPPER", "/w"},
                                     {"CODEX_ESCALATE_SOCKET", "10"},
                                     {"EXEC_WRAPPER", "/w"},
                                     {"HOLDFAST_SERVER", "ws://secret"},
                                     {"HOLDFAST_TOKEN_FILE", "/t"}}),
              ElementsAre(Pair("A", "1")));
}

}  // namespace
}  // namespace holdfast::mcp
