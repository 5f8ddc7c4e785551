// A lines connection exchanges one JSON message per line with its peer, over a socket or over two pipes. ServeLines in
// listener.h makes one over borrowed descriptors.
#pragma once

#include <memory>
#include <string>

#include "transport/byte_stream.h"
#include "transport/line_splitter.h"
#include "transport/listener.h"

namespace holdfast::transport {

// The end of a connection that is closed from this side, after everything queued has been sent.
//   kAtOnce     The streams are closed.
//   kAwaitPeer  The peer's input ends. The connection ends with the peer's output, or after close_timeout.
enum class Goodbye { kAtOnce, kAwaitPeer };

// The two directions of a connection. Those of a socket are one stream. The streams are transparent.
struct LinesStreams {
  std::unique_ptr<ByteStream> in;
  std::unique_ptr<ByteStream> separate_out = {};  // null if `in` is written to
  std::string peer;
  std::string early_input = {};  // bytes that were read to find out that the peer speaks lines
  // Released when the connection ends, such as its slot or the child process at its other end.
  std::shared_ptr<const void> kept_until_closed = {};
  Goodbye goodbye = Goodbye::kAtOnce;
  // After a long line the connection ends, or with kSkip the receiver gets an empty message in its place.
  LongLines long_lines = LongLines::kEnd;
};

std::shared_ptr<rpc::Transport> ExchangeLines(loop::EventLoop& loop, LinesStreams streams, const Limits& limits);

// Does the same as ServeLines in listener.h, with a choice about lines that are longer than the limit.
std::shared_ptr<rpc::Transport> ServeLines(loop::EventLoop& loop, int in_fd, int out_fd, const Limits& limits,
                                           LongLines long_lines);

}  // namespace holdfast::transport
