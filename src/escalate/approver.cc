#include "escalate/approver.h"

namespace holdfast::escalate {

loop::Task<Answer> NobodyToAsk::Ask(Question) {
  co_return Answer{.action = exec_policy::Action::kDeny, .reason = "there is nobody to ask for approval"};
}

}  // namespace holdfast::escalate
