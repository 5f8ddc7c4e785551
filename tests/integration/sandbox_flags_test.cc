// The command line of `holdfast sandbox`, where it decides what a command may do.
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "support/program.h"
#include "support/scratch_dir.h"

namespace holdfast::support {
namespace {

using Strings = std::vector<std::string>;

// A file called `--network` in the working directory is enough for `holdfast sandbox -w X -- ls *` to have it among the
// words of the command. Behind `--` nothing is a flag, whatever flag comes before.
TEST(SandboxFlagsTest, TheCommandsOwnWordsAreNoFlags) {
  const ScratchDir dir;
  for (const Strings& flags : {Strings{}, Strings{"-w", dir.path()}, Strings{"--deny", dir.path() + "/x"}}) {
    Strings words = {HOLDFAST_BINARY, "sandbox", "--read-only"};
    words.insert(words.end(), flags.begin(), flags.end());
    const Strings command = {"--", "sh",        "-c", "echo $* && readlink /proc/self/ns/net",
                             "sh", "--network", "-w", "/etc"};
    words.insert(words.end(), command.begin(), command.end());
    const Outcome inside = Program(words).Finish();
    if (inside.err.contains("bubblewrap") || inside.err.contains("bwrap")) GTEST_SKIP() << inside.err;
    const Outcome outside = Program({"readlink", "/proc/self/ns/net"}).Finish();
    EXPECT_TRUE(inside.out.starts_with("--network -w /etc\n")) << inside.out << inside.err;
    EXPECT_FALSE(inside.out.contains(outside.out)) << "the network is the machine's";
  }
}

}  // namespace
}  // namespace holdfast::support
