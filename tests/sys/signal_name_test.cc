#include "sys/signal_name.h"

#include <csignal>

#include <gtest/gtest.h>

namespace holdfast::sys {
namespace {

TEST(SignalByNameTest, KnowsTheNamesOfPosix) {
  EXPECT_EQ(SignalByName("SIGHUP"), SIGHUP);
  EXPECT_EQ(SignalByName("SIGINT"), SIGINT);
  EXPECT_EQ(SignalByName("SIGKILL"), SIGKILL);
  EXPECT_EQ(SignalByName("SIGTERM"), SIGTERM);
  EXPECT_EQ(SignalByName("SIGUSR2"), SIGUSR2);
  EXPECT_EQ(SignalByName("SIGWINCH"), SIGWINCH);
}

TEST(SignalByNameTest, KnowsNothingElse) {
  for (const char* name : {"", "SIG", "TERM", "SIGterm", "sigterm", "SIGTERM ", "SIGSIGTERM", "15", "SIGNOPE"}) {
    EXPECT_EQ(SignalByName(name), std::nullopt) << name;
  }
}

TEST(NameOfSignalTest, IsTheNameByWhichTheSignalIsFound) {
  EXPECT_EQ(NameOfSignal(SIGTERM), "SIGTERM");
  EXPECT_EQ(SignalByName(NameOfSignal(SIGWINCH)), SIGWINCH);
  EXPECT_EQ(NameOfSignal(40), "40");
}

}  // namespace
}  // namespace holdfast::sys
