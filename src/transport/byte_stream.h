// A ByteStream is the connected byte stream below a connection: an Outbox writes to it, and a connection reads from it.
// PlainStream passes the bytes to its descriptor as they are, and TlsStream encrypts them. Neither waits.
#pragma once

#include <sys/types.h>
#include <sys/uio.h>

#include <span>
#include <string>

namespace holdfast::transport {

class ByteStream {
 public:
  virtual ~ByteStream() = default;

  // Read and Write return the number of bytes, or -1 with an errno. After EAGAIN the caller waits until fd() is
  // readable or writable. Both retry a call that a signal has interrupted.
  //
  // Read returns 0 at the end of the stream. A stream may hold bytes that are no longer in the descriptor, so a reader
  // reads until EAGAIN before it waits for the descriptor.
  virtual ssize_t Read(std::span<char> buffer) = 0;
  // Write reports bytes when the kernel has accepted them. After EAGAIN the next call must begin with the same bytes.
  // A call without bytes sends only what a Read has left unsent, and returns 0 when the kernel has accepted all of it.
  virtual ssize_t Write(std::span<const iovec> vectors) = 0;

  // Tells the peer that nothing more will be written.
  virtual void EndWriting() = 0;

  // Closes the descriptor if the stream owns it. Nothing may be read or written afterwards.
  virtual void Close() = 0;

  // Returns whether the bytes of the stream are those of the descriptor, which may then be read directly.
  virtual bool transparent() const = 0;

  // Returns whether a Read has left bytes for the peer that the descriptor did not accept, such as a part of a
  // handshake. The reader then has them sent when the descriptor is writable: it reads again, or it tells the Outbox.
  virtual bool has_unsent() const = 0;

  // Returns a secret that only the two ends of an encrypted stream know once the handshake is done (RFC 9266); empty if
  // the stream is not encrypted. A proof that covers it is worth nothing on any other stream.
  virtual std::string ChannelBinding() const { return {}; }

  virtual int fd() const = 0;
};

}  // namespace holdfast::transport
