#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "exec_server/fake_transport.h"
#include "exec_server/files/file_requests.h"
#include "exec_server/files/file_session.h"
#include "files/workers/file_helpers.h"
#include "loop/byte_budget.h"
#include "loop/event_loop.h"
#include "loop/worker_pool.h"
#include "process/spawner.h"
#include "rpc/recording_sink.h"
#include "sandbox/launch/sandbox_program.h"
#include "support/loop_runner.h"
#include "support/scratch_dir.h"
#include "sys/io.h"

namespace holdfast::exec_server {
namespace {

using testing::HasSubstr;

// This script plays a file helper. $2 is the policy's directory; here it is the number of the first request, counted
// over all file helpers, that is not answered with `stale`. The answer is the number of the request.
constexpr char kProgram[] = R"(#!/bin/sh
[ "$2" = /refused ] && { echo 'failed 101 no such sandbox' >&6; exit 101; }
echo started >&6
exec 5<&- 6>&-
while read -r line; do
  echo >> {0}
  n=$(wc -l < {0})
  if [ $n -lt ${2#/} ]; then
    echo '{"status":"stale"}'
  else
    printf '{"status":"ok","payload":{"operation":"who","response":%s}}\n' $n
  fi
done
)";

class SandboxedRequestsTest : public testing::Test {
 protected:
  SandboxedRequestsTest() {
    ::signal(SIGPIPE, SIG_IGN);
    EXPECT_TRUE(sys::ReserveLowFds());
    std::string text = kProgram;
    for (size_t at; (at = text.find("{0}")) != std::string::npos;) text.replace(at, 3, dir_.path() + "/count");
    program_.emplace(sandbox::SandboxPrograms{.helper = sandbox::SealProgram(dir_.Write("program", text, 0755))},
                     "/usr/bin:/bin", "");
    spawner_ = *process::Spawner::Create(loop_);
    helpers_.emplace(loop_, *spawner_, *program_);
    requests_.emplace(workers_, budget_, *helpers_);
    session_.emplace(workers_, transport_, ClientTraits{}, "a");
  }

  void TearDown() override {
    session_.reset();
    helpers_->End("a", [] {});
    EXPECT_TRUE(support::RunUntil(loop_, [&] { return helpers_->alive() == 0; }));
  }

  // Returns the answer to a request that calls a file helper under the policy `word`.
  std::string Ask(const std::string& word) {
    sandbox::SandboxSpec spec;
    spec.profile.policy.files.emplace();
    spec.policy_cwd = "/" + word;
    FileRequest request{.claims = {{"/a", Access::kRead}}, .step = {}, .sandbox = std::move(spec)};
    request.sandboxed_step = [](std::shared_ptr<HelperUse> helper) -> FileStep {
      return [helper = std::move(helper)](std::string& json, size_t) -> Result<size_t> {
        const auto called = helper->Call("who", "{}", json);
        if (!called) json += "half of an answer";  // must be removed when another file helper is asked
        TRY_VOID(called);
        return 0;
      };
    };
    sink_->messages.clear();
    requests_->Start(*session_, std::move(request), rpc::PendingReply(sink_, rpc::RequestId(int64_t{1}), 0));
    EXPECT_TRUE(support::RunUntil(loop_, [&] { return !sink_->messages.empty(); }));
    return sink_->messages.empty() ? "" : sink_->messages.front();
  }

  loop::EventLoop loop_;
  loop::WorkerPool workers_{loop_, {}};
  loop::ByteBudget budget_{loop_, {}};
  support::ScratchDir dir_;
  std::unique_ptr<process::Spawner> spawner_;
  std::optional<sandbox::SandboxProgram> program_;
  std::optional<files::FileHelpers> helpers_;
  std::optional<FileRequests> requests_;
  FakeTransport transport_;
  std::shared_ptr<rpc::RecordingSink> sink_ = std::make_shared<rpc::RecordingSink>();
  std::optional<FileSession> session_;
};

TEST_F(SandboxedRequestsTest, AnswersWithWhatTheHelperSays) { EXPECT_EQ(Ask("1"), R"({"id":1,"result":1})"); }

TEST_F(SandboxedRequestsTest, AsksAnotherHelperWhenOneIsStale) { EXPECT_EQ(Ask("3"), R"({"id":1,"result":3})"); }

TEST_F(SandboxedRequestsTest, GivesUpAfterThreeStaleHelpers) {
  EXPECT_THAT(Ask("4"), HasSubstr("try again"));
  EXPECT_EQ(Ask("4"), R"({"id":1,"result":4})");
}

TEST_F(SandboxedRequestsTest, FailsWithTheReasonWhyNoHelperStarts) {
  EXPECT_THAT(Ask("refused"), HasSubstr("no such sandbox"));
}

}  // namespace
}  // namespace holdfast::exec_server
