#include "files/workers/file_worker.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "files/workers/file_helpers.h"
#include "loop/byte_budget.h"
#include "loop/event_loop.h"
#include "loop/scope.h"
#include "loop/worker_pool.h"
#include "process/spawner.h"
#include "sandbox/helper_command/sandbox_program.h"
#include "sandbox/launchers/without_jails.h"
#include "support/loop_runner.h"
#include "support/scratch_dir.h"
#include "sys/io.h"

namespace holdfast::files {
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

class FileWorkerTest : public testing::Test {
 protected:
  FileWorkerTest() {
    ::signal(SIGPIPE, SIG_IGN);
    EXPECT_TRUE(sys::ReserveLowFds());
    std::string text = kProgram;
    for (size_t at; (at = text.find("{0}")) != std::string::npos;) text.replace(at, 3, dir_.path() + "/count");
    program_.emplace(
        sandbox::SandboxPrograms{.helper = sandbox::SealedProgram::Begin(dir_.Write("program", text, 0755))},
        "/usr/bin:/bin", "");
    spawner_ = *process::Spawner::Create(loop_);
    sandboxed_.emplace(loop_, *spawner_, *program_);
    helpers_.emplace(sandboxed_->resources());
    workers_.emplace(threads_, *helpers_);
  }

  void TearDown() override {
    helpers_->End("a", [] {});
    EXPECT_TRUE(support::RunUntil(loop_, [&] { return helpers_->alive() == 0; }));
  }

  // Returns the policy `word` of the script.
  static sandbox::SandboxSpec Policy(const std::string& word) {
    sandbox::SandboxSpec spec;
    spec.profile.policy.files.emplace();
    spec.policy_cwd = "/" + word;
    return spec;
  }

  // Returns the answer that the step makes, or the message of the error.
  std::string Do(std::optional<sandbox::SandboxSpec> sandbox, FileStep step) {
    const auto answer = std::make_shared<FileAnswer>("answer ", budget_.Open());
    std::optional<Result<>> outcome;
    loop::Scope scope;
    scope.Start(Serve(std::move(sandbox), std::move(step), answer, outcome));
    EXPECT_TRUE(support::RunUntil(loop_, [&] { return outcome.has_value(); }));
    if (!outcome) return "";
    return *outcome ? answer->json : outcome->error().message;
  }

  // Calls a file helper under the policy `word`.
  std::string Ask(const std::string& word) {
    auto call = [](HelperUse* helper, std::string& json, size_t) -> Result<size_t> {
      const auto called = helper->Call("who", "{}", json);
      if (!called) json += "half of an answer";  // must be removed when another file helper is asked
      TRY_VOID(called);
      return 0;
    };
    return Do(Policy(word), std::move(call));
  }

  loop::EventLoop loop_;

 private:
  loop::Task<> Serve(std::optional<sandbox::SandboxSpec> sandbox, FileStep step, std::shared_ptr<FileAnswer> answer,
                     std::optional<Result<>>& outcome) {
    auto worker = co_await workers_->For("a", std::move(sandbox));
    if (worker) {
      outcome = co_await worker->Do(std::move(step), answer);
    } else {
      outcome = std::unexpected(worker.error());
    }
  }

  loop::WorkerPool threads_{loop_, {}};
  loop::ByteBudget budget_{loop_, {}};
  support::ScratchDir dir_;
  std::unique_ptr<process::Spawner> spawner_;
  std::optional<sandbox::SandboxProgram> program_;
  std::optional<sandbox::WithoutJails> sandboxed_;
  std::optional<FileHelpers> helpers_;
  std::optional<FileWorkers> workers_;
};

TEST_F(FileWorkerTest, AnswersWithWhatTheHelperSays) { EXPECT_EQ(Ask("1"), "answer 1"); }

TEST_F(FileWorkerTest, AsksAnotherHelperWhenOneIsStale) { EXPECT_EQ(Ask("3"), "answer 3"); }

TEST_F(FileWorkerTest, GivesUpAfterThreeStaleHelpers) {
  EXPECT_THAT(Ask("4"), HasSubstr("try again"));
  EXPECT_EQ(Ask("4"), "answer 4");
}

TEST_F(FileWorkerTest, FailsWithTheReasonWhyNoHelperStarts) {
  EXPECT_THAT(Ask("refused"), HasSubstr("no such sandbox"));
}

TEST_F(FileWorkerTest, WorksInTheServerWithoutASandbox) {
  auto step = [](HelperUse* helper, std::string& json, size_t) -> Result<size_t> {
    json += helper == nullptr ? "of the server" : "of a helper";
    return 0;
  };
  EXPECT_EQ(Do(std::nullopt, std::move(step)), "answer of the server");
}

// A step that has asked for memory has used its file helper, which may serve another request by then.
TEST_F(FileWorkerTest, GivesAStepItsHelperOnlyOnce) {
  auto step = [](HelperUse* helper, std::string& json, size_t allowed) -> Result<size_t> {
    if (helper == nullptr) return json += " and the rest", 0;
    TRY_VOID(helper->Call("who", "{}", json));
    return allowed + 1;
  };
  EXPECT_EQ(Do(Policy("1"), std::move(step)), "answer 1 and the rest");
}

}  // namespace
}  // namespace holdfast::files
