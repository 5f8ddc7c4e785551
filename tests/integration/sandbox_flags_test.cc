// Tests of the command line of `holdfast sandbox`, where it decides what a command may do.
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "support/program.h"
#include "support/scratch_dir.h"

namespace holdfast::support {
namespace {

using Strings = std::vector<std::string>;

// With a file named `--network` in the working directory, `holdfast sandbox -w X -- ls *` has that name among the words
// of the command. No word after `--` is a flag, whatever flag comes before it.
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
