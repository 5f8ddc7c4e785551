#include "transport/outbox.h"

#include <array>
#include <cerrno>
#include <span>
#include <utility>

namespace holdfast::transport {
namespace {

constexpr size_t kVectorsPerWrite = 64;

size_t TotalBytes(std::span<const iovec> vectors) {
  size_t total = 0;
  for (const iovec& vector : vectors) total += vector.iov_len;
  return total;
}

}  // namespace

Outbox::Outbox(loop::EventLoop& loop, ByteStream& stream, Marks marks, Owner& owner)
    : stream_(stream), marks_(marks), owner_(owner), flush_(loop, [this] { Flush(); }) {}

void Outbox::Append(std::string bytes) {
  if (shut_) return;
  queue_.Append(std::move(bytes));
  OnAppended();
}

void Outbox::AppendCopy(std::string_view bytes) {
  if (shut_) return;
  queue_.AppendCopy(bytes);
  OnAppended();
}

void Outbox::AppendPart(std::shared_ptr<const std::string> whole, std::string_view part) {
  if (shut_) return;
  queue_.AppendPart(std::move(whole), part);
  OnAppended();
}

void Outbox::OnAppended() {
  if (queue_.size() >= marks_.high_water_bytes) congested_ = true;
  if (!waiting_) flush_.Schedule();
}

void Outbox::FlushUnsent() {
  if (stream_.has_unsent() && !waiting_ && !shut_) flush_.Schedule();
}

// A write that accepted fewer bytes than it was offered has filled the stream, so another write would only fail
// with EAGAIN.
void Outbox::Flush() {
  waiting_ = false;
  while (!queue_.empty() || (stream_.has_unsent() && !shut_)) {
    std::array<iovec, kVectorsPerWrite> storage;
    const std::span<iovec> vectors = queue_.Gather(storage);
    const size_t offered = TotalBytes(vectors);
    const ssize_t written = stream_.Write(vectors);
    if (written < 0 && errno != EAGAIN) {
      Shut();
      return owner_.OnWriteFailed();
    }
    if (written > 0) queue_.Consume(static_cast<size_t>(written));
    if (written < 0 || static_cast<size_t>(written) < offered) {
      waiting_ = true;
      owner_.WatchWritable();
      break;
    }
  }
  ReportProgress();
}

void Outbox::ReportProgress() {
  const bool drained = congested_ && queue_.size() < marks_.low_water_bytes;
  if (drained) congested_ = false;
  owner_.OnFlushed(drained ? Progress::kDrained : Progress::kSome);
}

void Outbox::Shut() {
  shut_ = true;
  congested_ = false;
  queue_.Clear();
}

}  // namespace holdfast::transport
