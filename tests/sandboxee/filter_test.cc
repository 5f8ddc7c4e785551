// The tests evaluate the calls of the acts in user space, also those that this kernel does not have.
#include <linux/audit.h>
#include <linux/seccomp.h>

#include <set>
#include <vector>

#include <gtest/gtest.h>

#include "sandbox/confine/seccomp_filter.h"
#include "sandbox/confine/syscall_sets.h"
#include "sandboxee/act.h"
#include "support/bpf_evaluator.h"

namespace holdfast::sandboxee {
namespace {

using sandbox::Filter;

std::vector<Act> ActsWithCalls() {
  std::vector<Act> acts;
  for (const auto table : {SetIdActs(), NetworkActs(), ProcessActs(), FirstProcessActs(), MountActs(), NamespaceActs(),
                           KernelActs(), PrivilegeActs()}) {
    for (const Act& act : table) {
      if (act.call) acts.push_back(act);
    }
  }
  return acts;
}

TEST(SandboxeeFilterTest, EveryFilterRefusesTheCallsOfActs) {
  for (const Filter filter :
       {Filter::kOpenNetwork, Filter::kRestrictedNetwork, Filter::kProxyOnly, Filter::kProxyNoListening}) {
    const sandbox::BpfProgram program = sandbox::MakeFilter(filter);
    for (const Act& act : ActsWithCalls()) {
      seccomp_data call = {
          .nr = static_cast<int>(act.call->number), .arch = AUDIT_ARCH_X86_64, .instruction_pointer = 1, .args = {}};
      std::ranges::copy(act.call->arguments, call.args);
      const auto action = support::Evaluate(program, call);
      ASSERT_TRUE(action) << action.error().message;
      EXPECT_EQ(support::ActionText(*action), act.call->answer) << act.name;
    }
  }
}

TEST(SandboxeeFilterTest, EveryCallThatIsRefusedHasAnAct) {
  std::set<uint32_t> numbers;
  for (const Act& act : ActsWithCalls()) numbers.insert(act.call->number);
  for (const auto sets : {sandbox::RefusedAlways(), sandbox::RefusedToCommands()}) {
    for (const sandbox::SyscallSet& set : sets) {
      for (const sandbox::Syscall& call : set.calls) EXPECT_TRUE(numbers.contains(call.number)) << call.name;
    }
  }
}

}  // namespace
}  // namespace holdfast::sandboxee
