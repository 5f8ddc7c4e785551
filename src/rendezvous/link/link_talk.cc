#include "rendezvous/link/link_talk.h"

#include <array>
#include <cerrno>
#include <span>

#include "base/base64_url.h"

namespace holdfast::rendezvous {
namespace {

constexpr std::string_view kEndOfHead = "\r\n\r\n";
constexpr size_t kMaxHeadBytes = 8u << 10;

}  // namespace

LinkTalk::LinkTalk(loop::EventLoop& loop, std::unique_ptr<transport::ByteStream> stream, std::string early_input)
    : loop_(loop), stream_(std::move(stream)), input_(std::move(early_input)) {}

Result<> LinkTalk::Send(std::string_view message) {
  const iovec bytes{const_cast<char*>(message.data()), message.size()};  // a write only reads from it
  if (stream_->Write(std::span(&bytes, 1)) == std::ssize(message)) return {};
  return Fail(ErrorKind::kDisconnected, "it does not read");
}

loop::Task<Result<std::string>> LinkTalk::Receive(size_t count, loop::Deadline& deadline) {
  while (input_.size() < count) {
    const auto read = co_await ReadMore(deadline);
    if (!read) co_return std::unexpected(read.error());
  }
  co_return Take(count);
}

loop::Task<Result<std::string>> LinkTalk::ReceiveHead(loop::Deadline& deadline) {
  size_t end = input_.find(kEndOfHead);
  while (end == std::string::npos) {
    if (input_.size() > kMaxHeadBytes) co_return Fail(ErrorKind::kInvalidRequest, "its answer is too long");
    const auto read = co_await ReadMore(deadline);
    if (!read) co_return std::unexpected(read.error());
    end = input_.find(kEndOfHead);
  }
  co_return Take(end + kEndOfHead.size());
}

// Reads before it waits, because the stream may hold bytes that its descriptor does not tell of.
loop::Task<Result<>> LinkTalk::ReadMore(loop::Deadline& deadline) {
  loop::Event ready;
  loop::FdWatch watch(loop_, stream_->fd(), [&] { ready.Notify(); }, [&] { ready.Notify(); });
  for (;;) {
    std::array<char, 1024> chunk;
    const ssize_t count = stream_->Read(chunk);
    if (count > 0) {
      input_.append(chunk.data(), static_cast<size_t>(count));
      co_return Result<>();
    }
    if (count == 0) co_return Fail(ErrorKind::kDisconnected, "it closed the connection");
    if (errno != EAGAIN) co_return Fail(ErrorKind::kDisconnected, ErrnoText(errno));
    watch.WatchReadable();
    if (stream_->has_unsent()) watch.WatchWritable();
    if (co_await ready.NextBefore(deadline) == loop::Event::Woken::kByTime) {
      co_return Fail(ErrorKind::kTimeout, "it did not answer in time");
    }
  }
}

std::string LinkTalk::Take(size_t count) {
  std::string taken = input_.substr(0, count);
  input_.erase(0, count);
  return taken;
}

std::string LinkTalk::ChannelBinding() const { return Base64UrlEncode(stream_->ChannelBinding()); }

}  // namespace holdfast::rendezvous
