// An approver for tests in which no person is asked: it denies.
#pragma once

#include "escalate/approver.h"

namespace holdfast::escalate {

class NobodyToAsk final : public Approver {
 public:
  loop::Task<Answer> Ask(Question) override {
    co_return Answer{.action = exec_policy::Action::kDeny, .reason = "there is nobody to ask for approval"};
  }
};

}  // namespace holdfast::escalate
