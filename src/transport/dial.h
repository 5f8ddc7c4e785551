// Dial connects to a server as a client, and DialChild starts a server as a child process.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "loop/task.h"
#include "rpc/transport.h"
#include "transport/byte_stream.h"
#include "transport/dial_url.h"
#include "transport/listener.h"
#include "transport/proxy.h"
#include "transport/refusal.h"
#include "transport/tls_context.h"
#include "transport/unix_peer.h"

namespace holdfast::transport {

struct DialOptions {
  std::string ca_file = {};  // certificates that wss trusts besides the roots of the system; PEM
  std::vector<std::pair<std::string, std::string>> headers = {};  // of the request that opens a WebSocket
  std::chrono::milliseconds timeout{10'000};                      // for everything up to the open connection
  Limits limits = {};
  UnixPeer unix_peer = UnixPeer::kAny;
  ProxySettings proxies = ProxiesFromEnvironment();  // for WebSockets
  OnRefused on_refused = {};                         // told how a server refuses the WebSocket
};

// Tries the addresses of the server in turn; each has its share of the time. Returns an open connection, or one line
// that names the server and the cause. The kind of the error is kTimeout, kDisconnected if the server cannot be
// reached, kPermissionDenied if it refuses the WebSocket or cannot be trusted, kInvalidRequest if something else than a
// WebSocket server answers, and kInvalidParams for options that cannot be used. If the task is destroyed, the
// connection is abandoned.
loop::Task<Result<std::shared_ptr<rpc::Transport>>> Dial(loop::EventLoop& loop, ServerUrl url, DialOptions options);

// A stream to a server that was not asked for anything yet.
struct DialledStream {
  std::unique_ptr<ByteStream> stream;
  std::string distrust = {};  // why the certificate of the server is not valid; empty if it is, or without TLS
};

// Opens a stream to the server, with TLS if its URL says so. The way leads through no proxy. A certificate that is not
// valid does not fail the call: the caller gets the reason, and finds out in another way whether it is the right
// server. `tls` is a client's context, which takes long to make, and is used again for each call.
loop::Task<Result<DialledStream>> DialStream(loop::EventLoop& loop, WebSocketServer server,
                                             std::optional<TlsContext> tls, std::chrono::milliseconds timeout);

struct ChildCommand {
  std::vector<std::string> argv;  // a first word without a slash is looked up in PATH
};

// Starts a child and exchanges one JSON message per line with it, over its standard input and output. The child has
// the environment, the directory and the standard error of this process. The connection owns the child. When the
// connection is closed, the child's input ends, and the child has the close_timeout of the limits to exit; after that,
// and when the connection is destroyed, the child is killed.
Result<std::shared_ptr<rpc::Transport>> DialChild(loop::EventLoop& loop, const ChildCommand& command,
                                                  const Limits& limits = {});

}  // namespace holdfast::transport
