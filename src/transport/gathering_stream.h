// A GatheringStream is what Beast uses as the socket of a WebSocket connection. Reads go to the ByteStream, and each
// write goes as a whole into the connection's Outbox. Beast's control frames and our own data frames therefore never
// interleave, and they share system calls. Only web_socket_connection.cc includes this header.
#pragma once

#include <string>
#include <utility>

#include <boost/asio/buffer.hpp>
#include <boost/asio/compose.hpp>
#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/beast/core/role.hpp>

#include "transport/byte_stream.h"
#include "transport/outbox.h"
#include "transport/stream_read.h"
#include "transport/web_socket_frames.h"

namespace holdfast::transport {

namespace asio = boost::asio;
using boost::system::error_code;

class GatheringStream {
 public:
  using Socket = asio::generic::stream_protocol::socket;
  using executor_type = Socket::executor_type;

  // Borrows `bytes` and `outbox`. `early_input` is what the peer sent after its HTTP request. `on_close_frame` runs
  // when Beast writes a Close frame, after which no data frame may be sent.
  GatheringStream(asio::io_context& context, ByteStream& bytes, Outbox& outbox, std::string early_input,
                  loop::Callback on_close_frame);
  ~GatheringStream() { Abort(); }

  executor_type get_executor() { return socket_.get_executor(); }
  Socket& socket() { return socket_; }

  template <typename Buffers, typename Handler>
  void async_read_some(const Buffers& buffers, Handler&& handler) {
    if (early_input_.empty()) return ReadStream(buffers, std::forward<Handler>(handler));
    const size_t count = asio::buffer_copy(buffers, asio::buffer(early_input_));
    early_input_.erase(0, count);
    Complete(std::forward<Handler>(handler), count);
  }

  // Completes at once, unless the outbox is congested: a peer that sends a flood of pings and reads no answers must not
  // fill the server's memory.
  template <typename Buffers, typename Handler>
  void async_write_some(const Buffers& buffers, Handler&& handler) {
    std::string bytes(asio::buffer_size(buffers), '\0');
    asio::buffer_copy(asio::buffer(bytes), buffers);
    const size_t count = bytes.size();
    Take(std::move(bytes));
    if (!outbox_.congested()) return Complete(std::forward<Handler>(handler), count);
    progress_.async_wait(
        [handler = std::forward<Handler>(handler), count](error_code) mutable { handler(error_code(), count); });
  }

  // Resumes the writes and the teardown that wait for the outbox. The connection calls this when the outbox is empty or
  // has fallen below its low mark.
  void OnProgress() { progress_.cancel(); }

  // Closes the stream at once. Operations that still use it fail.
  void Abort();

 private:
  // The teardown ends a TCP connection in order: everything queued is sent, and then our FIN. Whatever the peer still
  // sends is discarded until its FIN, because closing a socket with unread bytes sends a reset that can overtake our
  // Close frame.
  struct Teardown {
    GatheringStream& stream;
    bool fin_sent = false;

    template <typename Self>
    void operator()(Self& self, error_code error = {}) {
      if (!stream.outbox_.empty()) return stream.progress_.async_wait(std::move(self));
      if (fin_sent && (error || !DiscardInput())) return self.complete({});
      if (!std::exchange(fin_sent, true)) stream.bytes_.EndWriting();
      stream.socket_.async_wait(Socket::wait_read, std::move(self));
    }

    bool DiscardInput() const;
  };

  template <typename Handler>
  void Complete(Handler&& handler, size_t count) {
    asio::post(get_executor(),
               [handler = std::forward<Handler>(handler), count]() mutable { handler(error_code(), count); });
  }

  // Asio reads a transparent stream directly: it waits without an epoll_ctl before each read.
  template <typename Buffers, typename Handler>
  void ReadStream(const Buffers& buffers, Handler&& handler) {
    if (bytes_.transparent()) return socket_.async_read_some(buffers, std::forward<Handler>(handler));
    AsyncRead({bytes_, socket_, outbox_}, buffers, std::forward<Handler>(handler));
  }

  void Take(std::string bytes);

  template <typename Handler>
  friend void async_teardown(boost::beast::role_type, GatheringStream& stream, Handler&& handler) {
    asio::async_compose<Handler, void(error_code)>(Teardown{stream}, handler, stream.socket_);
  }
  friend void beast_close_socket(GatheringStream& stream) { stream.Abort(); }

  ByteStream& bytes_;
  Socket socket_;  // borrows the descriptor of bytes_
  Outbox& outbox_;
  std::string early_input_;
  loop::Callback on_close_frame_;
  asio::steady_timer progress_;  // never expires; cancelling it wakes the waiters, whose handlers Asio owns
};

}  // namespace holdfast::transport
