// These tests send bytes through a process and check their order, their amounts, and which side waits for which.
#include <filesystem>

#include "process/process.h"
#include "process/process_fixture.h"
#include "support/scratch_dir.h"

namespace holdfast::process {
namespace {

// Returns bytes without a period, so that a lost block cannot go unnoticed.
std::string Noise(size_t size) {
  std::string noise(size, '\0');
  uint64_t state = 88172645463325252u;
  for (char& c : noise) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    c = static_cast<char>(state);
  }
  return noise;
}

class ProcessFlowTest : public ProcessFixture {};

TEST_F(ProcessFlowTest, KeepsTheOrderOfWritesForASlowReader) {
  Subject& subject = Launch(Shell("while read -r line; do echo \"$line\"; done"), kOpenStdin);
  std::string expected;
  for (int i = 0; i < 3000; ++i) {
    const std::string line = "line " + std::to_string(i) + std::string(60, '.') + "\n";
    expected += line;
    subject->input()->Write(0, line, [](auto) {});
  }
  subject->input()->CloseAfterQueued();
  ASSERT_TRUE(RunUntil([&] { return subject.over(); }));
  EXPECT_TRUE(subject.owner.out() == expected);
}

TEST_F(ProcessFlowTest, CarriesTenMegabytesThereAndBackAcrossAPause) {
  const std::string noise = Noise(10u << 20);
  Subject& subject = Launch(Shell("exec cat"), kOpenStdin);
  subject.owner.wants_output = false;
  size_t queued = 0;
  for (size_t at = 0; at < noise.size(); at += 1u << 20) {
    subject->input()->Write(0, noise.substr(at, 1u << 20), [&](auto) { ++queued; });
  }
  subject->input()->CloseAfterQueued();
  // Two pipes and cat's own buffer are full. The rest waits in the queue, and most of it is not even queued yet.
  ASSERT_TRUE(RunUntil([&] { return subject->input()->written_bytes() >= 128u << 10; }));
  support::RunReady(loop_);
  EXPECT_LT(subject->input()->written_bytes(), 1u << 20);
  EXPECT_LE(queued, 2u);
  EXPECT_EQ(subject.owner.out(), "");
  subject.owner.wants_output = true;
  subject->ResumeOutput();
  ASSERT_TRUE(RunUntil([&] { return subject.over(); }));
  EXPECT_EQ(queued, 10u);
  EXPECT_TRUE(subject.owner.out() == noise);
  EXPECT_EQ(subject->input_bytes(), noise.size());
}

TEST_F(ProcessFlowTest, StopsAtOnceWhenTheOwnerHasEnoughAndLosesNothing) {
  Subject& subject = Launch(Shell("head -c 3000000 /dev/zero"));
  size_t pauses = 0;
  while (!subject.over()) {
    const size_t chunks = subject.owner.seqs.size();
    ASSERT_TRUE(RunUntil([&] { return subject.over() || subject.owner.seqs.size() > chunks; }));
    subject.owner.wants_output = false;
    const size_t paused_at = subject.owner.out().size();
    support::RunReady(loop_);
    EXPECT_EQ(subject.owner.out().size(), paused_at);
    subject.owner.wants_output = true;
    subject->ResumeOutput();
    ++pauses;
  }
  EXPECT_GT(pauses, 10u);
  EXPECT_EQ(subject.owner.out().size(), 3'000'000u);
}

TEST_F(ProcessFlowTest, TellsTheExitDuringAPauseAndTheRestAfterIt) {
  Subject& subject = Launch(Shell("echo tail; exit 6"));
  subject.owner.wants_output = false;
  ASSERT_TRUE(RunUntil([&] { return subject->gone(); }));
  EXPECT_EQ(subject->exit_code(), 6);
  EXPECT_FALSE(subject->closed());
  subject.owner.wants_output = true;
  subject->ResumeOutput();
  ASSERT_TRUE(RunUntil([&] { return subject.over(); }));
  EXPECT_EQ(subject.owner.events, (std::vector<std::string>{"started", "exited", "gone", "output", "closed"}));
}

TEST_F(ProcessFlowTest, KeepsThePausedOutputOfAKilledProcess) {
  support::ScratchDir dir;
  const std::string flag = dir.path() + "/written";
  Subject& subject = Launch(Shell("echo kept; echo >" + flag + "; sleep 1000"));
  subject.owner.wants_output = false;
  ASSERT_TRUE(RunUntil([&] { return subject->pid() && std::filesystem::exists(flag); }));
  subject->Kill({});
  ASSERT_TRUE(RunUntil([&] { return subject->gone(); }));
  EXPECT_EQ(subject->exit_code(), 137);
  EXPECT_FALSE(subject->closed());
  subject.owner.wants_output = true;
  subject->ResumeOutput();
  ASSERT_TRUE(RunUntil([&] { return subject.over(); }));
  EXPECT_EQ(subject.owner.out(), "kept\n");
}

TEST_F(ProcessFlowTest, PausesOnlyTheProcessWhoseOwnerHasEnough) {
  Subject& paused = Launch(Shell("echo a"));
  paused.owner.wants_output = false;
  Subject& other = Run(Shell("echo b"));
  EXPECT_EQ(other.owner.out(), "b\n");
  EXPECT_EQ(paused.owner.out(), "");
}

TEST_F(ProcessFlowTest, ForgetsWritesToAProcessThatDoesNotRead) {
  Subject& subject = Launch(Shell("exec <&-; exit 0"), kOpenStdin);
  size_t queued = 0;
  for (int i = 0; i < 5; ++i) subject->input()->Write(0, std::string(1u << 20, 'x'), [&](auto) { ++queued; });
  ASSERT_TRUE(RunUntil([&] { return subject.over(); }));
  EXPECT_EQ(queued, 5u);
  EXPECT_EQ(subject->exit_code(), 0);
}

}  // namespace
}  // namespace holdfast::process
