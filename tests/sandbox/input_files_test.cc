#include "sandbox/input_files.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <string>

#include <gtest/gtest.h>

#include "base/owned_fd.h"
#include "support/scratch_dir.h"

namespace holdfast::sandbox {
namespace {

struct Seen {
  bool is_shared = false;  // a copy of the caller's descriptor moves along: nothing was opened again
  std::string rest;
};

// In a process of its own, with the file as standard input at offset 3.
Seen SeenAfter(const std::string& path, int flags) {
  int ends[2];
  EXPECT_EQ(::pipe2(ends, O_CLOEXEC), 0);
  const OwnedFd read_end(ends[0]);
  OwnedFd write_end(ends[1]);
  const pid_t child = ::fork();
  if (child == 0) {
    const int original = ::open(path.c_str(), flags | O_CLOEXEC);
    ::lseek(original, 3, SEEK_SET);
    ::dup2(original, STDIN_FILENO);
    ReopenInputFiles();
    std::array<char, 64> text;
    const ssize_t size = ::read(STDIN_FILENO, text.data(), text.size());
    if (size > 0) (void)!::write(ends[1], text.data(), static_cast<size_t>(size));
    ::_exit(::lseek(original, 0, SEEK_CUR) == 3 ? 0 : 1);
  }
  write_end.Reset();
  std::array<char, 64> text;
  const ssize_t size = ::read(read_end.get(), text.data(), text.size());
  int status = 0;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status));
  return {WEXITSTATUS(status) == 1, std::string(text.data(), static_cast<size_t>(size > 0 ? size : 0))};
}

TEST(InputFilesTest, AreOpenedAgainAtTheSameOffset) {
  const support::ScratchDir scratch;
  const Seen seen = SeenAfter(scratch.Write("file", "onetwo"), O_RDONLY);
  EXPECT_FALSE(seen.is_shared);
  EXPECT_EQ(seen.rest, "two");
}

TEST(InputFilesTest, AreLeftAloneWhenTheyMayBeWritten) {
  const support::ScratchDir scratch;
  const Seen seen = SeenAfter(scratch.Write("file", "onetwo"), O_RDWR);
  EXPECT_TRUE(seen.is_shared);
  EXPECT_EQ(seen.rest, "two");
}

}  // namespace
}  // namespace holdfast::sandbox
