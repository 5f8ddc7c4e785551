#include "sys/raw_children.h"

#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace holdfast::sys::raw {
namespace {

using testing::IsEmpty;
using testing::UnorderedElementsAreArray;

int Parent(std::string_view text) { return ParentFromStat(text.data(), static_cast<long>(text.size())); }

std::vector<int> Children(int parent) {
  std::vector<int> found;
  EXPECT_EQ(ForEachChild(parent, [&](int pid) { found.push_back(pid); }), 0);
  return found;
}

TEST(ParentFromStatTest, FindsTheParentBehindTheName) {
  EXPECT_EQ(Parent("12 (sh) S 34 12 12 0"), 34);
  EXPECT_EQ(Parent("12 (a) R 1 (b)) S 34 12 12"), 34);
  EXPECT_EQ(Parent("12 () Z 4194304 1"), 4194304);
}

TEST(ParentFromStatTest, SurvivesATruncatedLine) {
  const std::string_view line = "12 (sh) S 34 12";
  for (size_t size = 0; size < line.size(); ++size) EXPECT_LE(Parent(line.substr(0, size)), 34);
  EXPECT_EQ(Parent("no name"), -1);
}

TEST(ForEachChildTest, FindsEveryDirectChildAndNoOther) {
  std::vector<int> forked;
  for (int i = 0; i < 5; ++i) {
    const pid_t pid = ::fork();
    if (pid == 0) {
      for (;;) ::pause();
    }
    forked.push_back(pid);
  }
  EXPECT_THAT(Children(::getpid()), UnorderedElementsAreArray(forked));
  EXPECT_THAT(Children(forked[0]), IsEmpty());
  for (const int pid : forked) ::kill(pid, SIGKILL);
  siginfo_t info;
  EXPECT_EQ(::waitid(P_PID, static_cast<id_t>(forked[0]), &info, WEXITED | WNOWAIT), 0);
  EXPECT_THAT(Children(::getpid()), UnorderedElementsAreArray(forked));  // zombies count
  for (const int pid : forked) EXPECT_EQ(::waitpid(pid, nullptr, 0), pid);
  EXPECT_THAT(Children(::getpid()), IsEmpty());
}

}  // namespace
}  // namespace holdfast::sys::raw
