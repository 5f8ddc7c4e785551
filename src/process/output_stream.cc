#include "process/output_stream.h"

#include <array>
#include <cerrno>

#include "sys/io.h"

namespace holdfast::process {
namespace {

// All streams share one block, because the loop reads one stream at a time. It stays in the cache, which a fresh block
// for each read would not.
std::array<char, OutputStream::kBlockBytes>& Block() {
  static std::array<char, OutputStream::kBlockBytes> block;
  return block;
}

}  // namespace

OutputStream::OutputStream(loop::EventLoop& loop, OwnedFd fd, Stream stream, Owner& owner)
    : loop_(loop), fd_(std::move(fd)), stream_(stream), owner_(owner) {}

void OutputStream::Resume() {
  if (at_end_) return;
  // A descriptor without data sends no event, so the stream is read at once.
  if (end_when_dry_ && owner_.WantsOutput()) return ReadToTheEnd();
  if (waiting_) return;
  if (!watch_) {
    watch_.emplace(loop_, fd_.get(), [this] {
      waiting_ = false;
      OnReadable();
    });
  }
  waiting_ = true;
  watch_->WatchReadable();
}

void OutputStream::OnReadable() {
  if (at_end() || !owner_.WantsOutput()) return;
  if (end_when_dry_) return ReadToTheEnd();
  if (ReadBlock() != Step::kEnd) Resume();
}

void OutputStream::Drain(size_t max_bytes) {
  for (size_t read = 0; read < max_bytes && !at_end() && owner_.WantsOutput(); read += kBlockBytes) {
    if (ReadBlock() != Step::kData) return;
  }
}

void OutputStream::EndWhenDry() {
  end_when_dry_ = true;
  Resume();
}

void OutputStream::ReadToTheEnd() {
  while (!at_end() && owner_.WantsOutput()) (void)ReadBlock();
}

// A terminal yields a few hundred bytes at a time, which should not become as many messages, so it is read until the
// block is full. A pipe gives all that it has at once.
OutputStream::Step OutputStream::ReadBlock() {
  auto& block = Block();
  size_t filled = 0;
  ssize_t n = 0;
  do {
    n = sys::Read(fd_.get(), block.data() + filled, block.size() - filled);
    if (n > 0) filled += static_cast<size_t>(n);
  } while (n > 0 && filled < block.size() && stream_ == Stream::kTerminal);
  if (filled > 0) owner_.OnBytes(stream_, std::string_view(block.data(), filled));
  const bool dry = n == -EAGAIN;
  if (end_when_dry_) late_bytes_ += filled;
  if (n > 0 && late_bytes_ <= kMaxLateBytes) return Step::kData;
  if (dry && !end_when_dry_) return filled > 0 ? Step::kData : Step::kDry;
  End();  // 0, EIO of a terminal that no process holds, or any other error: no output will follow
  return Step::kEnd;
}

void OutputStream::Close() {
  watch_.reset();
  fd_.Reset();
}

void OutputStream::End() {
  at_end_ = true;
  owner_.OnEndOfStream();
}

}  // namespace holdfast::process
