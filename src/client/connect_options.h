// The choices that a caller makes when it connects, and for a single call.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "loop/task.h"
#include "rpc/transport.h"
#include "transport/unix_peer.h"
#include "wire/exec_policy_messages.h"
#include "wire/shared_session_messages.h"

namespace holdfast::client {

// An approver answers the questions of the server about commands that the rules of a supervised process leave to a
// person (StartOptions::exec_policy). A client without an approver denies.

// Runs on the loop's thread. Several questions may be open at a time. The answer to a question whose command has ended
// meanwhile is dropped.
using Approver = std::function<loop::Task<wire::ExecApproveResult>(wire::ExecApproveParams question)>;

// The same for a BlockingClient. It runs on a thread of its own for each question, and may block.
using BlockingApprover = std::function<wire::ExecApproveResult(const wire::ExecApproveParams& question)>;

using transport::UnixPeer;

// A session with a name, which any number of connections may share and which outlives them.
struct SharedSession {
  std::string name = {};
  // Without a role the first connection drives the session, and further ones observe it.
  std::optional<wire::SessionRole> role = {};
  // The time that the session outlives its last connection; nothing means until it is ended.
  std::optional<std::chrono::milliseconds> detached_ttl = {};
};

// What becomes of the connection of a session: the library tries to make another one, and has continued the session.
enum class Connectivity { kLost, kRegained };

struct ConnectOptions {
  std::string url = {};  // ws://HOST:PORT, wss://HOST:PORT, unix:///path or https://RENDEZVOUS/executors/ID
  std::string client_name = "holdfast";
  std::string ca_file = {};                                       // further root certificates, for wss://
  std::string bearer_token = {};                                  // sent as `Authorization: Bearer`, by WebSocket only
  std::vector<std::pair<std::string, std::string>> headers = {};  // of the WebSocket's HTTP request: {name, value}

  UnixPeer unix_peer = UnixPeer::kAny;  // the processes that may listen on a unix socket

  std::chrono::milliseconds connect_timeout{10'000};  // for one attempt to connect, with its handshake
  std::chrono::milliseconds call_timeout{30'000};     // for each call that does not bring its own limit
  // After a lost connection the library tries for this long to continue the session. With 0 it does not try.
  std::chrono::milliseconds recover_for{25'000};

  std::optional<SharedSession> session = {};
  std::optional<std::string> resume_session_id = {};       // continues a session of an earlier client
  std::function<void(Connectivity)> on_connectivity = {};  // called on the loop's thread
  Approver approver = {};  // answers questions about commands of supervised processes; without one they are denied
};

struct CallOptions {
  // The time until the answer, including the time without a connection. Without a value the limit of the connection
  // holds.
  std::optional<std::chrono::milliseconds> timeout = {};
};

// A Dialer makes the connections of one session: the first one, and another one after each loss.
class Dialer {
 public:
  virtual ~Dialer() = default;
  virtual loop::Task<Result<std::shared_ptr<rpc::Transport>>> Dial() = 0;
  // Tells why no further connection can be made; nothing if it makes sense to dial.
  virtual std::optional<Error> exhausted() const { return std::nullopt; }
};

}  // namespace holdfast::client
