// A LinkTalk is the conversation of two nodes before a link begins: short messages over a stream, one after the other.
// It owns the stream until the link takes it.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"
#include "loop/event.h"
#include "loop/event_loop.h"
#include "loop/task.h"
#include "transport/byte_stream.h"

namespace holdfast::rendezvous {

class LinkTalk {
 public:
  // `early_input` was read from the stream before.
  LinkTalk(loop::EventLoop& loop, std::unique_ptr<transport::ByteStream> stream, std::string early_input = {});

  // Sends a message, for which the empty buffer of a socket has room.
  Result<> Send(std::string_view message);

  // Receive the next `count` bytes, or everything up to and including the end of an HTTP head. The message of an error
  // is only the reason.
  loop::Task<Result<std::string>> Receive(size_t count, loop::Deadline& deadline);
  loop::Task<Result<std::string>> ReceiveHead(loop::Deadline& deadline);

  std::string ChannelBinding() const;  // as LinkTerms have it
  const transport::ByteStream& stream() const { return *stream_; }

  // Give the stream away, and what was read behind the last message.
  std::unique_ptr<transport::ByteStream> TakeStream() { return std::move(stream_); }
  std::string TakeRest() { return std::move(input_); }

 private:
  loop::Task<Result<>> ReadMore(loop::Deadline& deadline);
  std::string Take(size_t count);

  loop::EventLoop& loop_;
  std::unique_ptr<transport::ByteStream> stream_;
  std::string input_;
};

}  // namespace holdfast::rendezvous
