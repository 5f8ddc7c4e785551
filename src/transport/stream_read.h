// AsyncRead reads from a ByteStream in the way of Asio. Only gathering_stream.h includes this header.
#pragma once

#include <cerrno>
#include <span>
#include <utility>

#include <boost/asio/buffer.hpp>
#include <boost/asio/compose.hpp>
#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/post.hpp>

#include "transport/byte_stream.h"
#include "transport/outbox.h"

namespace holdfast::transport {

// One read from a stream that is not transparent. The stream is read before the socket is waited for, because it may
// hold bytes already. The first step is posted, so that the handler never runs inside the call that starts the read.
// The outbox sends what a read leaves unsent.
struct StreamRead {
  using Socket = boost::asio::generic::stream_protocol::socket;

  ByteStream& bytes;
  Socket& socket;  // has the descriptor of `bytes`
  Outbox& outbox;
  std::span<char> room = {};
  bool posted = false;

  template <typename Self>
  void operator()(Self& self, boost::system::error_code error = {}) {
    if (!std::exchange(posted, true)) return boost::asio::post(socket.get_executor(), std::move(self));
    if (error || bytes.fd() < 0) return self.complete(boost::asio::error::operation_aborted, 0);
    const ssize_t count = bytes.Read(room);
    const int reason = errno;
    outbox.FlushUnsent();
    if (count < 0 && reason == EAGAIN) return socket.async_wait(Socket::wait_read, std::move(self));
    if (count < 0) return self.complete({reason, boost::system::system_category()}, 0);
    if (count == 0) return self.complete(boost::asio::error::eof, 0);
    self.complete({}, static_cast<size_t>(count));
  }
};

// Fills at most the first of the buffers that is not empty.
template <typename Buffers, typename Handler>
void AsyncRead(StreamRead read, const Buffers& buffers, Handler&& handler) {
  for (auto it = boost::asio::buffer_sequence_begin(buffers);
       read.room.empty() && it != boost::asio::buffer_sequence_end(buffers); ++it) {
    const boost::asio::mutable_buffer buffer(*it);
    read.room = {static_cast<char*>(buffer.data()), buffer.size()};
  }
  boost::asio::async_compose<Handler, void(boost::system::error_code, size_t)>(read, handler, read.socket);
}

}  // namespace holdfast::transport
