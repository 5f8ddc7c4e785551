#include "process/stdin_queue.h"

#include <fcntl.h>

#include <csignal>

#include <gtest/gtest.h>

#include "support/loop_runner.h"
#include "sys/io.h"
#include "sys/pty.h"

namespace holdfast::process {
namespace {

class StdinQueueTest : public testing::Test {
 protected:
  static constexpr size_t kMebibyte = 1u << 20;

  StdinQueueTest() { ::signal(SIGPIPE, SIG_IGN); }

  static constexpr StdinQueue::Sender kSender = 1, kOther = 2;

  StdinQueue& OnPipe() {
    auto pipe = sys::MakePipe(sys::OurEnd::kWrite);
    EXPECT_TRUE(pipe);
    return Open(std::move(pipe->read_end), std::move(pipe->write_end), StdinQueue::Kind::kPipe);
  }

  StdinQueue& OnTerminal() {
    auto pty = sys::OpenPty({});
    EXPECT_TRUE(pty);
    return Open(std::move(pty->slave), std::move(pty->master), StdinQueue::Kind::kTerminal);
  }

  StdinQueue& Open(OwnedFd reader, OwnedFd writer, StdinQueue::Kind kind) {
    EXPECT_TRUE(sys::SetBlocking(reader.get(), sys::Blocking::kNo));
    reader_ = std::move(reader);
    return queue_.emplace(loop_, std::move(writer), kind);
  }

  void Write(std::string bytes, StdinQueue::Sender sender = kSender) {
    queue_->Write(sender, std::move(bytes), [this](StdinQueue::Outcome outcome) {
      ++(outcome == StdinQueue::Outcome::kAccepted ? queued_ : dropped_);
    });
  }

  // Waits until a read succeeds, and returns its bytes, or nothing at the end of file.
  std::string Read(size_t max_bytes = 64u << 10) {
    std::string bytes(max_bytes, '\0');
    ssize_t n = -EAGAIN;
    EXPECT_TRUE(
        support::RunUntil(loop_, [&] { return (n = sys::Read(reader_.get(), bytes.data(), max_bytes)) != -EAGAIN; }));
    bytes.resize(n > 0 ? static_cast<size_t>(n) : 0);
    return bytes;
  }

  std::string ReadToEnd() {
    std::string all;
    for (std::string some; !(some = Read()).empty();) all += some;
    return all;
  }

  bool NothingToRead() {
    support::RunReady(loop_);
    char c;
    return sys::Read(reader_.get(), &c, 1) == -EAGAIN;
  }

  loop::EventLoop loop_;
  OwnedFd reader_;
  std::optional<StdinQueue> queue_;
  int queued_ = 0, dropped_ = 0;
};

TEST_F(StdinQueueTest, WritesAtOnceWhatThePipeTakes) {
  OnPipe();
  Write("abc");
  EXPECT_EQ(queued_, 1);
  EXPECT_EQ(queue_->written_bytes(), 3u);
  EXPECT_EQ(Read(), "abc");
}

TEST_F(StdinQueueTest, KeepsTheOrderAcrossAFullPipe) {
  OnPipe();
  std::string expected;
  for (char c = 'a'; c <= 'z'; ++c) {
    const std::string bytes(40'000, c);
    expected += bytes;
    Write(bytes);
  }
  queue_->CloseAfterQueued();
  EXPECT_TRUE(ReadToEnd() == expected);
  EXPECT_EQ(queue_->written_bytes(), expected.size());
}

TEST_F(StdinQueueTest, HoldsWritesAboveTheHighMark) {
  OnPipe();
  Write(std::string(2 * kMebibyte, 'a'));
  Write("b");
  Write("c");
  EXPECT_EQ(queued_, 0);
  std::string all;
  while (queued_ < 3) all += Read();
  EXPECT_LT(all.size(), 2 * kMebibyte);  // there is enough room, but the queue is not empty
  queue_->CloseAfterQueued();
  all += ReadToEnd();
  EXPECT_TRUE(all == std::string(2 * kMebibyte, 'a') + "bc");
}

TEST_F(StdinQueueTest, AcceptsALargeWriteWhenAllButTheHighMarkIsWritten) {
  OnPipe();
  constexpr size_t kBytes = 3 * StdinQueue::kHighWaterBytes;
  Write(std::string(kBytes, 'a'));
  size_t unaccepted = 0;  // the most that was written before the write was answered
  while (queued_ == 0) {
    unaccepted = queue_->written_bytes();
    ASSERT_FALSE(Read(16u << 10).empty());
  }
  EXPECT_LT(unaccepted, kBytes - StdinQueue::kHighWaterBytes);
  EXPECT_GE(queue_->written_bytes(), kBytes - StdinQueue::kHighWaterBytes);
  EXPECT_LT(queue_->written_bytes(), kBytes);
}

TEST_F(StdinQueueTest, ClosesThePipeAfterWhatIsQueued) {
  OnPipe();
  Write(std::string(kMebibyte, 'a'));
  queue_->CloseAfterQueued();
  EXPECT_FALSE(queue_->is_open());
  EXPECT_EQ(ReadToEnd().size(), kMebibyte);
}

TEST_F(StdinQueueTest, ForgetsWhatIsWrittenAfterTheClose) {
  OnPipe();
  queue_->CloseAfterQueued();
  queue_->CloseAfterQueued();
  Write("late");
  EXPECT_EQ(queued_, 1);
  EXPECT_EQ(ReadToEnd(), "");
}

TEST_F(StdinQueueTest, AnswersEverythingWhenTheReaderIsGone) {
  OnPipe();
  Write(std::string(2 * kMebibyte, 'a'));
  Write("b");
  reader_.Reset();
  EXPECT_TRUE(support::RunUntil(loop_, [&] { return queued_ == 2; }));
  EXPECT_FALSE(queue_->is_open());
}

TEST_F(StdinQueueTest, AnswersEverythingWhenAbandoned) {
  OnPipe();
  for (int i = 0; i < 4; ++i) Write(std::string(kMebibyte, 'a'));
  EXPECT_LT(queued_, 4);
  queue_->Abandon();
  EXPECT_EQ(queued_, 4);
}

TEST_F(StdinQueueTest, DropsOnlyWhatItHolds) {
  OnPipe();
  Write(std::string(2 * kMebibyte, 'a'));
  Write("b");
  queue_->DropHeld(kSender);
  EXPECT_EQ(dropped_, 1);
  queue_->CloseAfterQueued();
  EXPECT_TRUE(ReadToEnd() == std::string(2 * kMebibyte, 'a'));
  EXPECT_EQ(queued_, 1);
}

TEST_F(StdinQueueTest, DropsTheWritesOfOneSenderOnly) {
  OnPipe();
  Write(std::string(2 * kMebibyte, 'a'));
  Write("b");
  Write("c", kOther);
  Write("d");
  queue_->DropHeld(kSender);
  EXPECT_EQ(dropped_, 2);
  queue_->CloseAfterQueued();
  EXPECT_TRUE(ReadToEnd() == std::string(2 * kMebibyte, 'a') + "c");
}

TEST_F(StdinQueueTest, TakesAgainWhatItDropped) {
  OnPipe();
  Write(std::string(2 * kMebibyte, 'a'));
  Write("b");
  Write("c");
  queue_->DropHeld(kSender);
  EXPECT_EQ(dropped_, 2);
  Write("b");
  queue_->CloseAfterQueued();
  EXPECT_TRUE(ReadToEnd() == std::string(2 * kMebibyte, 'a') + "b");
  EXPECT_EQ(queued_, 2);
}

TEST_F(StdinQueueTest, TakesAnEmptyWrite) {
  OnPipe();
  Write("");
  EXPECT_EQ(queued_, 1);
  EXPECT_TRUE(NothingToRead());
}

TEST_F(StdinQueueTest, EndsATerminalsInputBetweenLines) {
  OnTerminal();
  for (const char* line : {"one\n", "two\r"}) {
    Write(line);
    queue_->CloseAfterQueued();
    EXPECT_EQ(Read().size(), 4u);
    EXPECT_EQ(Read(), "");
    EXPECT_TRUE(NothingToRead());
  }
}

TEST_F(StdinQueueTest, EndsATerminalsInputInsideALine) {
  OnTerminal();
  Write("half");
  queue_->CloseAfterQueued();
  EXPECT_EQ(Read(), "half");
  EXPECT_EQ(Read(), "");
  EXPECT_TRUE(NothingToRead());
}

TEST_F(StdinQueueTest, EndsATerminalsInputOnceForEachClose) {
  OnTerminal();
  Write("half");
  queue_->CloseAfterQueued();
  EXPECT_EQ(Read(), "half");
  EXPECT_EQ(Read(), "");
  queue_->CloseAfterQueued();
  EXPECT_EQ(Read(), "");
  EXPECT_TRUE(NothingToRead());
}

TEST_F(StdinQueueTest, EndsATerminalsInputOnceAfterTheWriterHandedTheLineOver) {
  OnTerminal();
  Write("half\x04");
  queue_->CloseAfterQueued();
  EXPECT_EQ(Read(), "half");
  EXPECT_EQ(Read(), "");
  EXPECT_TRUE(NothingToRead());
}

TEST_F(StdinQueueTest, EndsATerminalsInputOnceAlsoWhenItWasFull) {
  OnTerminal();
  std::string lines;
  for (int i = 0; i < 2000; ++i) lines += "line " + std::to_string(i) + "\n";
  Write(lines);
  queue_->CloseAfterQueued();
  EXPECT_LT(queue_->written_bytes(), lines.size());
  EXPECT_TRUE(ReadToEnd() == lines);
  queue_->CloseAfterQueued();
  EXPECT_EQ(Read(), "");
  EXPECT_TRUE(NothingToRead());
}

TEST_F(StdinQueueTest, KeepsATerminalOpenAfterItsEnd) {
  OnTerminal();
  queue_->CloseAfterQueued();
  EXPECT_TRUE(queue_->is_open());
  EXPECT_EQ(Read(), "");
  Write("more\n");
  EXPECT_EQ(Read(), "more\n");
}

}  // namespace
}  // namespace holdfast::process
