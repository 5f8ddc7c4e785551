#include "escalate/approver.h"

#include <optional>

#include <gtest/gtest.h>

#include "loop/event_loop.h"
#include "loop/scope.h"

namespace holdfast::escalate {
namespace {

loop::Task<> Keep(Approver& approver, std::optional<Answer>& answer) {
  answer = co_await approver.Ask({.file = "/usr/bin/id", .argv = {"id"}, .cwd = "/"});
}

TEST(NobodyToAskTest, Denies) {
  NobodyToAsk approver;
  std::optional<Answer> answer;
  loop::Scope scope;
  scope.Start(Keep(approver, answer));
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->action, exec_policy::Action::kDeny);
  EXPECT_EQ(answer->reason, "there is nobody to ask for approval");
}

}  // namespace
}  // namespace holdfast::escalate
