#include "exec_server/processes/start_command.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "wire/decode.h"
#include "wire/json.h"

namespace holdfast::exec_server {
namespace {

using process::Environment;
using testing::HasSubstr;

wire::ProcessStartParams Direct(std::vector<std::string> argv, wire::StringMap env = {}) {
  wire::ProcessStartParams params;
  params.process_id = "p";
  params.argv = std::move(argv);
  params.cwd = "/";
  params.env = std::move(env);
  return params;
}

wire::ProcessStartParams Prepared() {
  wire::ProcessStartParams params;
  params.prepared.emplace();
  params.prepared->program = "tool";
  params.prepared->argv = {"zero", "one"};
  params.prepared->cwd = "file:///tmp";
  params.prepared->env = {{"B", "2"}, {"A", "1"}};
  return params;
}

const Environment kServer = {{"HOME", "/h"}, {"PATH", "/server"}};

process::Command Resolve(const wire::ProcessStartParams& params, const Config& config = {}) {
  auto command = ResolveCommand(params, config, kServer);
  EXPECT_TRUE(command) << command.error().message;
  return command ? *command : process::Command{};
}

Error Refusal(const wire::ProcessStartParams& params, const Config& config = {}) {
  auto command = ResolveCommand(params, config, kServer);
  EXPECT_FALSE(command);
  return command ? Error{} : command.error();
}

TEST(ResolveCommandTest, TakesAPathAsItIs) {
  const process::Command command = Resolve(Direct({"/bin/tool", "a"}));
  EXPECT_EQ(command.program, "/bin/tool");
  EXPECT_EQ(command.search_path, std::nullopt);
  EXPECT_EQ(command.argv, (std::vector<std::string>{"/bin/tool", "a"}));
  EXPECT_EQ(Resolve(Direct({"./tool"})).search_path, std::nullopt);
}

TEST(ResolveCommandTest, LooksABareNameUpInTheChildsPath) {
  EXPECT_EQ(Resolve(Direct({"tool"}, {{"PATH", "/a:/b"}})).search_path, "/a:/b");
}

TEST(ResolveCommandTest, FallsBackToTheDefaultPathAndNotToTheServers) {
  EXPECT_EQ(Resolve(Direct({"tool"})).search_path, "/bin:/usr/bin");
}

TEST(ResolveCommandTest, TakesAnEmptyPathForTheWorkingDirectory) {
  EXPECT_EQ(Resolve(Direct({"tool"}, {{"PATH", ""}})).search_path, ":");
}

TEST(ResolveCommandTest, ReplacesTheFirstArgumentOnly) {
  auto params = Direct({"/bin/tool", "a"});
  params.arg0 = "other";
  const process::Command command = Resolve(params);
  EXPECT_EQ(command.program, "/bin/tool");
  EXPECT_EQ(command.argv, (std::vector<std::string>{"other", "a"}));
}

TEST(ResolveCommandTest, InheritsNothingWithoutAPolicy) {
  EXPECT_EQ(Resolve(Direct({"/t"}, {{"B", "2"}, {"A", "1"}})).env, (Environment{{"A", "1"}, {"B", "2"}}));
}

TEST(ResolveCommandTest, InheritsByThePolicy) {
  auto params = Direct({"tool"}, {{"A", "1"}});
  params.env_policy.emplace();
  params.env_policy->inherit = wire::Inherit::kAll;
  params.env_policy->exclude = {"HOME"};
  params.env_policy->set = {{"S", "s"}};
  const process::Command command = Resolve(params);
  EXPECT_EQ(command.env, (Environment{{"A", "1"}, {"PATH", "/server"}, {"S", "s"}}));
  EXPECT_EQ(command.search_path, "/server");
}

std::string PathOf(const wire::ProcessStartParams& params) {
  const auto command = ResolveCommand(params, {}, kServer, "/tools");
  EXPECT_TRUE(command) << command.error().message;
  for (const auto& [name, value] : command->env) {
    if (name == "PATH") return value;
  }
  return "none";
}

TEST(ResolveCommandTest, PutsItsToolsFirstInThePathOfTheCommand) {
  auto params = Direct({"rg"}, {{"PATH", "/client"}});
  EXPECT_EQ(PathOf(params), "/tools:/client");
  EXPECT_EQ(ResolveCommand(params, {}, kServer, "/tools")->search_path, "/tools:/client");
  params.env = {};
  EXPECT_EQ(PathOf(params), "none");
  params.env_policy.emplace();
  params.env_policy->inherit = wire::Inherit::kCore;
  EXPECT_EQ(PathOf(params), "/tools:/server");
  params.env_policy->exclude = {"P*"};
  EXPECT_EQ(PathOf(params), "none");
}

TEST(ResolveCommandTest, LeavesAPathAloneThatThePolicySets) {
  auto params = Direct({"rg"});
  params.env_policy.emplace();
  params.env_policy->inherit = wire::Inherit::kAll;
  params.env_policy->set = {{"PATH", "/set"}};
  EXPECT_EQ(PathOf(params), "/set");
  params.env = {{"PATH", "/client"}};
  EXPECT_EQ(PathOf(params), "/tools:/client");
}

TEST(ResolveCommandTest, RunsAPreparedCommandWithThePathItHas) {
  auto params = Prepared();
  params.prepared->env = {{"PATH", "/client"}};
  EXPECT_EQ(PathOf(params), "/client");
}

TEST(ResolveCommandTest, TakesACwdAsPathOrUri) {
  auto params = Direct({"/t"});
  params.cwd = "file:///tmp/a%20b";
  EXPECT_EQ(Resolve(params).cwd, "/tmp/a b");
  params.cwd = "relative";
  EXPECT_EQ(Refusal(params).kind, ErrorKind::kInvalidParams);
  EXPECT_THAT(Refusal(params).message, HasSubstr("cwd: "));
}

TEST(ResolveCommandTest, RefusesAnEmptyArgv) { EXPECT_EQ(Refusal(Direct({})).kind, ErrorKind::kInvalidParams); }

TEST(ResolveCommandTest, RefusesAnEmptyProgram) { EXPECT_EQ(Refusal(Direct({""})).kind, ErrorKind::kSystem); }

TEST(ResolveCommandTest, RefusesNulBytes) {
  const std::string nul("a\0b", 3);
  EXPECT_EQ(Refusal(Direct({nul})).message, "program: contains a NUL byte");
  EXPECT_EQ(Refusal(Direct({"/t", "x", nul})).message, "argv.2: contains a NUL byte");
  EXPECT_EQ(Refusal(Direct({"/t"}, {{nul, ""}})).message, "env: contains a NUL byte");
  EXPECT_EQ(Refusal(Direct({"/t"}, {{"A", nul}})).message, "env: contains a NUL byte");
  auto params = Direct({"/t"});
  params.cwd = "/" + nul;
  EXPECT_FALSE(ResolveCommand(params, {}, {}));
  params = Direct({"/t"});
  params.arg0 = nul;
  EXPECT_FALSE(ResolveCommand(params, {}, {}));
}

TEST(ResolveCommandTest, LimitsArgumentsAndEnvironment) {
  Config config;
  config.max_argv_bytes = 100;
  config.max_env_bytes = 100;
  EXPECT_EQ(Refusal(Direct({"/t", std::string(100, 'x')}), config).kind, ErrorKind::kLimit);
  EXPECT_EQ(Refusal(Direct({"/t"}, {{"A", std::string(98, 'x')}}), config).kind, ErrorKind::kLimit);
  Resolve(Direct({"/t", std::string(90, 'x')}, {{"A", std::string(97, 'x')}}), config);
}

TEST(ResolveCommandTest, LimitsTheInheritedEnvironmentToo) {
  Config config;
  config.max_env_bytes = 10;
  auto params = Direct({"/t"});
  params.env_policy.emplace();
  params.env_policy->inherit = wire::Inherit::kAll;
  EXPECT_EQ(Refusal(params, config).kind, ErrorKind::kLimit);
}

// Patterns are matched on the loop, which does nothing else meanwhile.
TEST(ResolveCommandTest, RefusesAPolicyThatWouldTakeLongToMatch) {
  const std::string long_text(1u << 20, 'a');
  Config config;
  config.max_env_bytes = SIZE_MAX;
  for (auto list : {&wire::EnvPolicy::exclude, &wire::EnvPolicy::include_only}) {
    auto params = Direct({"/t"});
    params.env_policy.emplace();
    params.env_policy.value().*list = {"*" + long_text + "b"};
    Resolve(params, config);  // long patterns alone are cheap
    params.env_policy->set = {{long_text, ""}};
    EXPECT_EQ(Refusal(params, config).kind, ErrorKind::kLimit);
    EXPECT_THAT(Refusal(params, config).message, HasSubstr("envPolicy"));
  }
}

TEST(ResolveCommandTest, CountsManyShortPatternsAndNamesToo) {
  auto params = Direct({"/t"});
  params.env_policy.emplace();
  params.env_policy->exclude.assign(20'000, "");
  for (int i = 0; i < 20'000; ++i) params.env_policy->set.emplace_back(std::to_string(i), "");
  EXPECT_THAT(Refusal(params).message, HasSubstr("envPolicy"));
}

TEST(ResolveCommandTest, RefusesAVariableThatCannotHaveThatName) {
  for (const char* name : {"", "=", "A=B", "=A"}) {
    EXPECT_EQ(Refusal(Direct({"/t"}, {{name, "x"}})).kind, ErrorKind::kInvalidParams) << name;
    auto prepared = Prepared();
    prepared.prepared->env = {{name, "x"}};
    EXPECT_EQ(Refusal(prepared).kind, ErrorKind::kInvalidParams) << name;
    auto by_policy = Direct({"/t"});
    by_policy.env_policy.emplace();
    by_policy.env_policy->set = {{name, "x"}};
    EXPECT_EQ(Refusal(by_policy).kind, ErrorKind::kInvalidParams) << name;
  }
}

TEST(ResolveCommandTest, LimitsTheProcessId) {
  auto params = Direct({"/t"});
  params.process_id.assign(1024, 'i');
  Resolve(params);
  params.process_id += 'i';
  EXPECT_EQ(Refusal(params).kind, ErrorKind::kInvalidParams);
}

TEST(ResolveCommandTest, TakesAPreparedCommandWithoutASearch) {
  const process::Command command = Resolve(Prepared());
  EXPECT_EQ(command.program, "tool");
  EXPECT_EQ(command.search_path, std::nullopt);
  EXPECT_EQ(command.argv, (std::vector<std::string>{"zero", "one"}));
  EXPECT_EQ(command.cwd, "/tmp");
  EXPECT_EQ(command.env, (Environment{{"A", "1"}, {"B", "2"}}));
}

TEST(ResolveCommandTest, SwitchesOffDirectOrPreparedCommands) {
  Config config;
  config.allow_prepared_exec = false;
  EXPECT_EQ(Refusal(Prepared(), config).kind, ErrorKind::kInvalidRequest);
  Resolve(Direct({"/t"}), config);
  config = {};
  config.allow_direct_exec = false;
  EXPECT_EQ(Refusal(Direct({"/t"}), config).kind, ErrorKind::kInvalidRequest);
  Resolve(Prepared(), config);
}

TEST(ResolveCommandTest, RefusesARestrictionItWouldHaveToIgnore) {
  auto refusal = [](auto restrict) {
    auto params = Direct({"/t"});
    restrict(params);
    return Refusal(params).message;
  };
  EXPECT_THAT(refusal([](auto& params) { params.managed_network.emplace(); }), HasSubstr("managedNetwork"));
  EXPECT_THAT(refusal([](auto& params) { params.network_proxy.given = true; }), HasSubstr("networkProxy"));
  EXPECT_THAT(refusal([](auto& params) { params.shell_snapshot.given = true; }), HasSubstr("shellSnapshot"));
  EXPECT_THAT(refusal([](auto& params) { params.enforce_managed_network = true; }), HasSubstr("needs a sandbox"));
}

class ResolveStartTest : public testing::Test {
 protected:
  Result<StartRequest> Order() const { return ResolveStart(params_, Config{}, kServer); }

  // Adds a sandbox to the params, which refer to the text, so the text must outlive them.
  void AskForASandbox(const char* sandbox) {
    auto json = document_.Parse(sandbox);
    ASSERT_TRUE(json);
    auto decoded = wire::Decode<wire::Sandbox>(*json);
    ASSERT_TRUE(decoded) << decoded.error().message;
    params_.sandbox = *std::move(decoded);
  }

  wire::Document document_;
  wire::ProcessStartParams params_ = Direct({"/t"});
};

TEST_F(ResolveStartTest, AsksForNoSandboxByItself) {
  ASSERT_TRUE(Order());
  EXPECT_FALSE(Order()->sandbox);
}

TEST_F(ResolveStartTest, PutsTheProjectWhereTheCommandIs) {
  params_.cwd = "file:///w/./x";
  AskForASandbox(R"({"type":"workspace-write"})");
  ASSERT_TRUE(Order());
  EXPECT_EQ(Order()->sandbox->policy_cwd, "/w/x");
  EXPECT_FALSE(Order()->sandbox->proxies);
}

TEST_F(ResolveStartTest, PutsTheProjectWhereAPreparedCommandIs) {
  params_ = Prepared();
  AskForASandbox(R"({"type":"workspace-write"})");
  ASSERT_TRUE(Order());
  EXPECT_EQ(Order()->sandbox->policy_cwd, "/tmp");
}

TEST_F(ResolveStartTest, RestrictsTheNetworkToProxiesUnderAnyProfile) {
  params_.enforce_managed_network = true;
  AskForASandbox(R"({"permissions":{"type":"disabled"},"windowsSandboxLevel":"disabled"})");
  ASSERT_TRUE(Order());
  EXPECT_EQ(Order()->sandbox->proxies, wire::ManagedNetwork{});
  EXPECT_TRUE(Order()->sandbox->restricts());
}

TEST_F(ResolveStartTest, TakesThePortsOfAManagedNetworkThatTheVariablesName) {
  params_.enforce_managed_network = true;
  params_.env = {{"HTTP_PROXY", "http://127.0.0.1:81"}};
  params_.managed_network = wire::ManagedNetwork{.loopback_ports = {{80, 81}}, .allow_local_binding = false};
  AskForASandbox(R"({"type":"read-only"})");
  ASSERT_TRUE(Order());
  EXPECT_EQ(Order()->sandbox->proxies, (wire::ManagedNetwork{.loopback_ports = {{81}}, .allow_local_binding = false}));
}

TEST_F(ResolveStartTest, LooksForTheVariablesWhereAPreparedCommandHasThem) {
  params_ = Prepared();
  params_.prepared->env = {{"HTTP_PROXY", "http://127.0.0.1:81"}};
  params_.env = {{"HTTP_PROXY", "http://127.0.0.1:80"}};
  params_.enforce_managed_network = true;
  params_.managed_network = wire::ManagedNetwork{.loopback_ports = {{80, 81}}};
  AskForASandbox(R"({"type":"read-only"})");
  ASSERT_TRUE(Order());
  EXPECT_EQ(Order()->sandbox->proxies, wire::ManagedNetwork{.loopback_ports = {{81}}});
}

TEST_F(ResolveStartTest, RefusesAManagedNetworkThatIsNotEnforced) {
  params_.managed_network.emplace();
  AskForASandbox(R"({"type":"read-only"})");
  ASSERT_FALSE(Order());
  EXPECT_EQ(Order().error().kind, ErrorKind::kInvalidParams);
  EXPECT_THAT(Order().error().message, HasSubstr("needs enforceManagedNetwork"));
}

TEST_F(ResolveStartTest, DoesNotRunWhatIsNotUnderstood) {
  AskForASandbox(R"({"permissions":{"type":"later"},"windowsSandboxLevel":"disabled"})");
  ASSERT_FALSE(Order());
  EXPECT_EQ(Order().error().kind, ErrorKind::kInvalidParams);
  EXPECT_THAT(Order().error().message, HasSubstr("sandbox.permissions"));
}

TEST(ResolveIoTest, FollowsTtyAndPipeStdin) {
  wire::ProcessStartParams params;
  EXPECT_EQ(std::get<process::Pipes>(ResolveIo(params)).stdin_mode, process::Stdin::kNull);
  params.pipe_stdin = true;
  EXPECT_EQ(std::get<process::Pipes>(ResolveIo(params)).stdin_mode, process::Stdin::kPipe);
  params.tty = true;
  const auto terminal = std::get<process::Terminal>(ResolveIo(params));
  EXPECT_EQ(terminal.size.rows, 24);
  EXPECT_EQ(terminal.size.cols, 80);
}

TEST(ResolveIoTest, FollowsIoBeforeTty) {
  wire::ProcessStartParams params;
  params.tty = true;
  params.io.emplace();
  params.io->pipe = wire::PipeIo{wire::StdinMode::kOpen};
  EXPECT_EQ(std::get<process::Pipes>(ResolveIo(params)).stdin_mode, process::Stdin::kPipe);
  params.io = wire::ProcessIo{wire::PtyIo{30, 40}, std::nullopt};
  EXPECT_EQ(std::get<process::Terminal>(ResolveIo(params)).size.cols, 40);
}

}  // namespace
}  // namespace holdfast::exec_server
