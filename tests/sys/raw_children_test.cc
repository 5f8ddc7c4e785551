#include "sys/raw_children.h"

#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace holdfast::sys::raw {
namespace {

using testing::IsEmpty;
using testing::UnorderedElementsAreArray;

constexpr int kAll = 1 << 16;

std::vector<int> Children() {
  std::vector<int> found;
  const ProcessList list = ProcessList::Open();
  EXPECT_EQ(VisitChildren(list, kAll, [&](int pid) { found.push_back(pid); }), Look::kComplete);
  list.Close();
  return found;
}

pid_t ForkSleeper() {
  const pid_t pid = ::fork();
  while (pid == 0) ::pause();
  return pid;
}

void End(pid_t pid) {
  ::kill(pid, SIGKILL);
  EXPECT_EQ(::waitpid(pid, nullptr, 0), pid);
}

TEST(PidFromNameTest, TakesNumbersAlone) {
  EXPECT_EQ(PidFromName("1"), 1);
  EXPECT_EQ(PidFromName("4194304"), 4194304);
  for (const char* name : {"self", "", "12a", "a12", "-1", ".", "1 "}) EXPECT_EQ(PidFromName(name), 0) << name;
}

TEST(IsChildTest, KnowsChildrenAliveAndDeadAndNoOthers) {
  const pid_t child = ForkSleeper();
  EXPECT_TRUE(IsChild(child));
  EXPECT_FALSE(IsChild(::getpid()));
  EXPECT_FALSE(IsChild(1));
  ::kill(child, SIGKILL);
  siginfo_t info;
  EXPECT_EQ(::waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOWAIT), 0);
  EXPECT_TRUE(IsChild(child));
  EXPECT_EQ(::waitpid(child, nullptr, 0), child);
  EXPECT_FALSE(IsChild(child));
}

TEST(VisitChildrenTest, FindsEveryDirectChildAndNoOther) {
  std::vector<int> forked;
  for (int i = 0; i < 5; ++i) forked.push_back(ForkSleeper());
  EXPECT_THAT(Children(), UnorderedElementsAreArray(forked));
  for (const int pid : forked) End(pid);
  EXPECT_THAT(Children(), IsEmpty());
}

// One call ends however many processes start meanwhile, and several calls together find all children.
TEST(VisitChildrenTest, TakesAFewProcessesAtATime) {
  constexpr int kForked = 60;
  std::vector<int> forked, found;
  for (int i = 0; i < kForked; ++i) forked.push_back(ForkSleeper());
  const ProcessList list = ProcessList::Open();
  int pieces = 0;
  size_t most_at_once = 0;
  for (Look look = Look::kUnfinished; look == Look::kUnfinished; ++pieces) {
    const size_t before = found.size();
    look = VisitChildren(list, 1, [&](int pid) { found.push_back(pid); });
    most_at_once = std::max(most_at_once, found.size() - before);
  }
  EXPECT_THAT(found, UnorderedElementsAreArray(forked));
  EXPECT_GE(pieces, 3);
  EXPECT_LT(most_at_once, 30u);
  list.Close();
  for (const int pid : forked) End(pid);
}

TEST(VisitChildrenTest, BeginsAnew) {
  const pid_t child = ForkSleeper();
  const ProcessList list = ProcessList::Open();
  std::vector<int> found;
  for (int i = 0; i < 2; ++i) {
    VisitChildren(list, kAll, [&](int pid) { found.push_back(pid); });
    list.GoToBegin();
  }
  EXPECT_EQ(found, (std::vector<int>{child, child}));
  list.Close();
  End(child);
}

}  // namespace
}  // namespace holdfast::sys::raw
