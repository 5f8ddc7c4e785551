#include "process/output_stream.h"

#include <gtest/gtest.h>

#include "support/loop_runner.h"
#include "sys/io.h"
#include "sys/pty.h"

namespace holdfast::process {
namespace {

struct RecordingStreamOwner : OutputStream::Owner {
  void OnBytes(Stream, std::string_view bytes) override {
    text += bytes;
    ++blocks;
  }
  void OnEndOfStream() override { ++ends; }
  bool WantsOutput() const override { return wants; }

  std::string text;
  int blocks = 0, ends = 0;
  bool wants = true;
};

class OutputStreamTest : public testing::Test {
 protected:
  OutputStreamTest() {
    auto pipe = sys::MakePipe(sys::OurEnd::kRead);
    EXPECT_TRUE(pipe);
    writer_ = std::move(pipe->write_end);
    stream_.emplace(loop_, std::move(pipe->read_end), Stream::kStdout, owner_);
  }

  void Put(std::string_view bytes) {
    EXPECT_EQ(sys::Write(writer_.get(), bytes.data(), bytes.size()), static_cast<ssize_t>(bytes.size()));
  }

  bool RunUntil(const std::function<bool()>& done) { return support::RunUntil(loop_, done); }

  loop::EventLoop loop_;
  RecordingStreamOwner owner_;
  OwnedFd writer_;
  std::optional<OutputStream> stream_;
};

TEST_F(OutputStreamTest, ReadsNothingBeforeTheFirstResume) {
  Put("abc");
  support::RunReady(loop_);
  EXPECT_EQ(owner_.text, "");
  stream_->Resume();
  EXPECT_TRUE(RunUntil([&] { return owner_.text == "abc"; }));
}

TEST_F(OutputStreamTest, GoesOnReadingByItself) {
  stream_->Resume();
  for (const char* text : {"a", "ab", "abc"}) {
    Put(std::string_view(text).substr(owner_.text.size()));
    EXPECT_TRUE(RunUntil([&] { return owner_.text == text; }));
  }
}

TEST_F(OutputStreamTest, StopsWhileTheOwnerWantsNothing) {
  stream_->Resume();
  owner_.wants = false;
  Put("abc");
  for (int i = 0; i < 3; ++i) support::RunReady(loop_);
  EXPECT_EQ(owner_.text, "");
  owner_.wants = true;
  stream_->Resume();
  EXPECT_TRUE(RunUntil([&] { return owner_.text == "abc"; }));
}

TEST_F(OutputStreamTest, EndsOnceWhenTheWriterIsGone) {
  stream_->Resume();
  Put("abc");
  writer_.Reset();
  EXPECT_TRUE(RunUntil([&] { return stream_->at_end(); }));
  stream_->Resume();
  stream_->Drain(1000);
  stream_->EndWhenDry();
  support::RunReady(loop_);
  EXPECT_EQ(owner_.text, "abc");
  EXPECT_EQ(owner_.ends, 1);
}

TEST_F(OutputStreamTest, DrainsWhatIsThereWithoutTheLoop) {
  Put("abc");
  stream_->Drain(1u << 20);
  EXPECT_EQ(owner_.text, "abc");
  EXPECT_FALSE(stream_->at_end());
}

TEST_F(OutputStreamTest, DrainsNoMoreThanItIsAskedFor) {
  Put(std::string(60'000, 'x'));
  writer_.Reset();
  stream_->Drain(0);
  EXPECT_EQ(owner_.text, "");
  stream_->Drain(1);  // one block
  EXPECT_EQ(owner_.text.size(), 60'000u);
}

TEST_F(OutputStreamTest, FillsABlockBeforeItHandsItOver) {
  Put(std::string(50'000, 'x'));
  Put(std::string(10'000, 'y'));
  stream_->Drain(OutputStream::kBlockBytes);
  EXPECT_EQ(owner_.blocks, 1);
  EXPECT_EQ(owner_.text.size(), 60'000u);
}

TEST_F(OutputStreamTest, EndsWhenDryAlthoughTheWriterIsThere) {
  stream_->Resume();
  Put("abc");
  stream_->EndWhenDry();
  EXPECT_EQ(owner_.text, "abc");
  EXPECT_EQ(owner_.ends, 1);
  EXPECT_TRUE(stream_->at_end());
}

TEST_F(OutputStreamTest, EndsWhenDryOnlyAfterAPause) {
  stream_->Resume();
  Put("abc");
  owner_.wants = false;
  stream_->EndWhenDry();
  support::RunReady(loop_);
  EXPECT_FALSE(stream_->at_end());
  owner_.wants = true;
  stream_->Resume();
  EXPECT_TRUE(RunUntil([&] { return stream_->at_end(); }));
  EXPECT_EQ(owner_.text, "abc");
}

TEST_F(OutputStreamTest, EndsATerminalNobodyHolds) {
  auto pty = sys::OpenPty({});
  ASSERT_TRUE(pty);
  OutputStream terminal(loop_, std::move(pty->master), Stream::kTerminal, owner_);
  terminal.Resume();
  EXPECT_EQ(sys::Write(pty->slave.get(), "x\n", 2), 2);
  EXPECT_TRUE(RunUntil([&] { return owner_.text == "x\r\n"; }));
  pty->slave.Reset();
  EXPECT_TRUE(RunUntil([&] { return terminal.at_end(); }));
}

}  // namespace
}  // namespace holdfast::process
