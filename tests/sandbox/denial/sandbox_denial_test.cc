#include "sandbox/denial/sandbox_denial.h"

#include <gtest/gtest.h>
#include <string_view>

namespace holdfast::sandbox {
namespace {

using process::Stream;

class SandboxDenialTest : public testing::Test {
 protected:
  void Say(Stream stream, std::string_view text) { log_.Append(++seq_, stream, text); }
  bool DeniedWith(int exit_code) const { return LooksDenied(exit_code, log_); }

  process::OutputLog log_{process::OutputLimits{}};
  uint64_t seq_ = 0;
};

TEST_F(SandboxDenialTest, KnowsTheWordsInAnyCase) {
  for (const char* text : {"sh: Operation not permitted", "PERMISSION DENIED", "x: Read-only file system", "Seccomp",
                           "the sandbox said no", "landlock", "failed to write file /x"}) {
    process::OutputLog log{process::OutputLimits{}};
    log.Append(1, Stream::kStderr, text);
    EXPECT_TRUE(LooksDenied(1, log)) << text;
    EXPECT_TRUE(LooksDenied(2, log)) << text;
    EXPECT_FALSE(LooksDenied(0, log)) << text;
  }
}

TEST_F(SandboxDenialTest, HearsEveryStream) {
  Say(Stream::kStdout, "permission denied");
  EXPECT_TRUE(DeniedWith(1));
}

TEST_F(SandboxDenialTest, HearsATerminal) {
  Say(Stream::kTerminal, "permission denied");
  EXPECT_TRUE(DeniedWith(126));
}

TEST_F(SandboxDenialTest, PutsChunksOfAStreamTogether) {
  Say(Stream::kStderr, "cannot create: Read-only");
  Say(Stream::kStdout, "---");
  Say(Stream::kStderr, " file system\n");
  EXPECT_TRUE(DeniedWith(2));
}

TEST_F(SandboxDenialTest, TakesAPlainFailureForOne) {
  Say(Stream::kStderr, "no such file or directory");
  for (const int code : {1, 2, 126, 127, 128 + 9}) EXPECT_FALSE(DeniedWith(code)) << code;
}

TEST_F(SandboxDenialTest, TakesAFilteredCallForADenial) {
  EXPECT_TRUE(DeniedWith(159));
  EXPECT_FALSE(DeniedWith(158));
}

}  // namespace
}  // namespace holdfast::sandbox
