// The questions of a real server about supervised commands, and the answers of the client library.
#include <string>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "client/blocking.h"
#include "client/client_fixture.h"
#include "loop/scope.h"
#include "support/scratch_dir.h"
#include "support/server_process.h"

namespace holdfast::client {
namespace {

using support::ServerProcess;
using testing::HasSubstr;
using wire::ExecDecision;

class ApprovalTest : public testing::Test {
 protected:
  StartOptions Judged() const {
    return {.argv = {"/bin/sh", "-c", "/usr/bin/printf hello; exit $?"},
            .env = {{"PATH", "/usr/bin:/bin"}},
            .exec_policy = wire::ExecPolicy{.rules = {rules_}}};
  }

  support::ScratchDir scratch_;
  const std::string rules_ =
      scratch_.Write("r.rules", "prefix_rule(pattern=[\"/usr/bin/printf\"], decision=\"prompt\")\n");
  const ServerProcess server_ = ServerProcess::Start();
};

TEST_F(ApprovalTest, ABlockingClientIsAsked) {
  wire::ExecApproveParams asked;
  auto client = BlockingClient::Connect({.url = server_.url()}, {}, [&](const wire::ExecApproveParams& question) {
    asked = question;
    return wire::ExecApproveResult{.decision = question.proposed};
  });
  ASSERT_TRUE(client) << client.error().message;
  const auto done = client->Run(Judged(), "");
  ASSERT_TRUE(done) << done.error().message;
  EXPECT_EQ(done->output.out, "hello");
  EXPECT_EQ(done->exit.exit_code, 0);
  EXPECT_EQ(asked.file, "/usr/bin/printf");
  EXPECT_EQ(asked.argv, (std::vector<std::string>{"/usr/bin/printf", "hello"}));
}

TEST_F(ApprovalTest, AClientWithoutAnApproverDenies) {
  auto client = BlockingClient::Connect({.url = server_.url()});
  ASSERT_TRUE(client) << client.error().message;
  const auto done = client->Run(Judged(), "");
  ASSERT_TRUE(done) << done.error().message;
  EXPECT_EQ(done->output.out, "");
  EXPECT_THAT(done->output.err, HasSubstr("Execution denied: The client approves no commands"));
  EXPECT_EQ(done->exit.exit_code, 1);
}

loop::Task<wire::ExecApproveResult> Decline(wire::ExecApproveParams) {
  co_return wire::ExecApproveResult{.decision = ExecDecision::kDeny, .reason = "Not this one."};
}

TEST_F(ApprovalTest, ACoroutineIsAsked) {
  auto client = BlockingClient::Connect({.url = server_.url(), .approver = Decline});
  ASSERT_TRUE(client) << client.error().message;
  const auto done = client->Run(Judged(), "");
  ASSERT_TRUE(done) << done.error().message;
  EXPECT_THAT(done->output.err, HasSubstr("Execution denied: Not this one."));
}

class ScriptedApprovalTest : public ClientTest {};

TEST_F(ScriptedApprovalTest, AServerThatWouldIgnoreTheRulesIsRefused) {
  ExecServerClient client = Connect();
  const auto started = Run(client.Start({.argv = {"/bin/true"}, .exec_policy = wire::ExecPolicy{.rules = {"/r"}}}));
  ASSERT_FALSE(started);
  EXPECT_EQ(started.error().message, "this server cannot supervise commands by rules");
}

}  // namespace
}  // namespace holdfast::client
