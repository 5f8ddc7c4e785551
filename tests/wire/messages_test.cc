// These tests check what the structs of the protocol accept and refuse beyond the plain rules of their field lists.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "wire/encode.h"
#include "wire/json.h"
#include "wire/process_control_messages.h"
#include "wire/process_list_messages.h"
#include "wire/process_messages.h"
#include "wire/process_start_messages.h"
#include "wire/session_messages.h"

namespace holdfast::wire {
namespace {

template <typename T>
class Decoded {
 public:
  explicit Decoded(std::string_view text) : message_(Decode<T>(document_.Parse(text).value())) {}

  bool ok() const { return message_.has_value(); }
  const T* operator->() const { return &message_.value(); }
  std::string fault() const { return ok() ? "" : message_.error().message; }

 private:
  Document document_;
  Result<T> message_;
};

using Start = Decoded<ProcessStartParams>;
using Terminate = Decoded<ProcessTerminateParams>;

std::string StartText(std::string_view more) {
  return R"({"processId":"p","argv":["a"],"cwd":"/","env":{},"tty":false)" + std::string(more) + "}";
}

TEST(ProcessStartParamsTest, NeedsTheCommandAndTty) {
  EXPECT_TRUE(Start(StartText("")).ok());
  EXPECT_EQ(Start(R"({"argv":["a"],"cwd":"/","env":{},"tty":false})").fault(), "processId: is missing");
  EXPECT_EQ(Start(R"({"processId":"","cwd":"/","env":{},"tty":false})").fault(), "argv: is missing");
  EXPECT_EQ(Start(R"({"processId":"p","argv":["a"],"cwd":"/","env":{}})").fault(), "tty: is missing");
  EXPECT_EQ(Start(R"({"processId":"p","argv":["a"],"cwd":"/","env":null,"tty":false})").fault(),
            "env: expected an object, got null");
}

TEST(ProcessStartParamsTest, NeedsNoTtyWithIo) {
  EXPECT_TRUE(Start(R"({"processId":"p","argv":["a"],"cwd":"/","env":{},"io":{"pty":{"rows":1,"cols":2}}})").ok());
}

TEST(ProcessStartParamsTest, NeedsExactlyOneKindOfIo) {
  EXPECT_FALSE(Start(StartText(R"(,"io":{})")).ok());
  EXPECT_FALSE(Start(StartText(R"(,"io":{"pty":{"rows":1,"cols":2},"pipe":{"stdin":"open"}})")).ok());
  EXPECT_EQ(Start(StartText(R"(,"io":{"pipe":{"stdin":"ajar"}})")).fault(),
            "io.pipe.stdin: is not one of the known values");
  EXPECT_EQ(Start(StartText(R"(,"io":{"pipe":{"stdin":"open"}})"))->io->pipe->stdin_mode, StdinMode::kOpen);
}

TEST(ProcessStartParamsTest, NeedsNoCommandBesideAPreparedOne) {
  const Start start(R"({"processId":"p","prepared":{"program":"/t","argv":["t"],"env":{},"cwd":"/"},"tty":false})");
  ASSERT_TRUE(start.ok()) << start.fault();
  EXPECT_EQ(start->prepared->program, "/t");
}

TEST(ProcessStartParamsTest, NoticesRestrictionsWhateverTheySay) {
  EXPECT_TRUE(Start(StartText(R"(,"networkProxy":"x")"))->network_proxy.given);
  EXPECT_TRUE(Start(StartText(R"(,"shellSnapshot":false)"))->shell_snapshot.given);
  EXPECT_FALSE(Start(StartText(R"(,"networkProxy":null)"))->network_proxy.given);
}

TEST(ProcessStartParamsTest, TakesAManagedNetworkWithOrWithoutItsMembers) {
  const Start start(StartText(R"(,"managedNetwork":{"loopbackPorts":[65535,1],"allowLocalBinding":false,"later":{}})"));
  ASSERT_TRUE(start.ok()) << start.fault();
  EXPECT_EQ(start->managed_network->loopback_ports, (std::vector<uint16_t>{65535, 1}));
  EXPECT_FALSE(start->managed_network->may_listen());
  for (const char* bare : {"{}", R"({"loopbackPorts":null,"allowLocalBinding":null})"}) {
    const Start none(StartText(fmt::format(R"(,"managedNetwork":{})", bare)));
    ASSERT_TRUE(none.ok()) << none.fault();
    EXPECT_EQ(none->managed_network, ManagedNetwork{});
    EXPECT_TRUE(none->managed_network->may_listen());
  }
  EXPECT_FALSE(Start(StartText(R"(,"managedNetwork":null)"))->managed_network);
}

TEST(ProcessStartParamsTest, RefusesAManagedNetworkThatMakesNoSense) {
  for (const char* network :
       {"true", "[]", R"({"loopbackPorts":80})", R"({"loopbackPorts":["80"]})", R"({"loopbackPorts":[80.5]})",
        R"({"loopbackPorts":[null]})", R"({"loopbackPorts":[0]})", R"({"loopbackPorts":[65536]})",
        R"({"loopbackPorts":[-1]})", R"({"loopbackPorts":[80,81,80]})", R"({"allowLocalBinding":"no"})",
        R"({"allowLocalBinding":0})"}) {
    EXPECT_THAT(Start(StartText(fmt::format(R"(,"managedNetwork":{})", network))).fault(),
                testing::StartsWith("managedNetwork"))
        << network;
  }
  EXPECT_EQ(Start(StartText(R"(,"managedNetwork":{"loopbackPorts":[0]})")).fault(),
            "managedNetwork.loopbackPorts: 0 is not a port");
}

TEST(ManagedNetworkTest, IsWrittenAsItIsRead) {
  EXPECT_EQ(Encode(ManagedNetwork{}), "{}");
  EXPECT_EQ(Encode(ManagedNetwork{.loopback_ports = {{1, 65535}}, .allow_local_binding = false}),
            R"({"loopbackPorts":[1,65535],"allowLocalBinding":false})");
}

TEST(ProcessStartParamsTest, TakesASandboxWithItsPermissionsAsTheyAre) {
  const std::string text =
      StartText(R"(,"sandbox":{"permissions":{"type":"disabled"},"windowsSandboxLevel":"disabled",)"
                R"("cwd":"/w","workspaceRoots":["/w","/v"],"useLegacyLandlock":true})");
  const Start start(text);
  ASSERT_TRUE(start.ok()) << start.fault();
  EXPECT_EQ(start->sandbox->permissions.Find("type").string(), "disabled");
  EXPECT_EQ(start->sandbox->cwd, "/w");
  EXPECT_EQ(start->sandbox->workspace_roots->at(1), "/v");
  EXPECT_EQ(start->sandbox->use_legacy_landlock, true);
  EXPECT_FALSE(Start(StartText(R"(,"sandbox":null,"metadata":{"threadId":"t"})"))->sandbox);
  EXPECT_FALSE(Start(StartText(""))->sandbox);
}

TEST(ProcessStartParamsTest, NeedsPermissionsAndALevelInASandbox) {
  EXPECT_EQ(Start(StartText(R"(,"sandbox":{})")).fault(), "sandbox.permissions: is missing");
  EXPECT_EQ(Start(StartText(R"(,"sandbox":{"permissions":{}})")).fault(), "sandbox.windowsSandboxLevel: is missing");
  EXPECT_EQ(Start(StartText(R"(,"sandbox":"ReadOnly")")).fault(), "sandbox: expected an object, got a string");
}

TEST(ProcessStartParamsTest, TakesAnOlderPolicyForTheWholeSandboxOrItsPermissions) {
  const std::string inside_text = StartText(R"(,"sandbox":{"sandboxPolicy":{"type":"read-only"}})");
  const Start inside(inside_text);
  ASSERT_TRUE(inside.ok()) << inside.fault();
  EXPECT_EQ(inside->sandbox->sandbox_policy.Find("type").string(), "read-only");
  const std::string bare_text = StartText(R"(,"sandbox":{"type":"read-only"})");
  const Start bare(bare_text);
  ASSERT_TRUE(bare.ok()) << bare.fault();
  EXPECT_EQ(bare->sandbox->bare_policy.Find("type").string(), "read-only");
}

TEST(ProcessStartParamsTest, NeedsEveryFieldOfAPolicy) {
  EXPECT_EQ(Start(StartText(R"(,"envPolicy":{"inherit":"core"})")).fault(),
            "envPolicy.ignoreDefaultExcludes: is missing");
  EXPECT_EQ(Start(StartText(R"(,"envPolicy":{"inherit":"some"})")).fault(),
            "envPolicy.inherit: is not one of the known values");
  EXPECT_FALSE(Start(StartText(R"(,"envPolicy":null)"))->env_policy);
}

TEST(ProcessTerminateParamsTest, KnowsItsModes) {
  EXPECT_FALSE(Terminate(R"({"processId":"p"})")->mode);
  EXPECT_FALSE(Terminate(R"({"processId":"p","mode":null})")->mode);
  EXPECT_EQ(Terminate(R"({"processId":"p","mode":"force"})")->mode->graceful_timeout_ms, std::nullopt);
  EXPECT_EQ(Terminate(R"({"processId":"p","mode":{"graceful":{"timeoutMs":5}}})")->mode->graceful_timeout_ms, 5u);
  for (const char* mode : {"\"gentle\"", "{}", "5", "[]", R"({"graceful":{}})", R"({"graceful":{"timeoutMs":-1}})"}) {
    EXPECT_FALSE(Terminate(std::string(R"({"processId":"p","mode":)") + mode + "}").ok()) << mode;
  }
}

TEST(ProcessResizeParamsTest, KeepsToSixteenBits) {
  EXPECT_TRUE(Decoded<ProcessResizeParams>(R"({"processId":"p","rows":0,"cols":65535})").ok());
  EXPECT_FALSE(Decoded<ProcessResizeParams>(R"({"processId":"p","rows":1,"cols":65536})").ok());
}

TEST(InitializeParamsTest, NeedsOnlyAName) {
  EXPECT_TRUE(Decoded<InitializeParams>(R"({"clientName":"c","resumeSessionId":null,"capabilities":{}})").ok());
  EXPECT_TRUE(
      Decoded<InitializeParams>(R"({"clientName":"c","capabilities":{"lifecycle":true}})")->capabilities->lifecycle);
  EXPECT_FALSE(Decoded<InitializeParams>("{}").ok());
}

TEST(ProcessReadResultTest, WritesNullForWhatIsNotKnown) {
  EXPECT_EQ(
      Encode(ProcessReadResult{}),
      R"({"chunks":[],"nextSeq":1,"exited":false,"exitCode":null,"closed":false,"failure":null,"sandboxDenied":false})");
}

TEST(ProcessWriteResultTest, WritesItsStatusByName) {
  EXPECT_EQ(Encode(ProcessWriteResult{WriteStatus::kAccepted}), R"({"status":"accepted"})");
  EXPECT_EQ(Encode(ProcessWriteResult{WriteStatus::kStdinClosed}), R"({"status":"stdinClosed"})");
  EXPECT_EQ(Encode(ProcessWriteResult{WriteStatus::kUnknownProcess}), R"({"status":"unknownProcess"})");
}

}  // namespace
}  // namespace holdfast::wire
