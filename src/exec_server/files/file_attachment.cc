#include "exec_server/files/file_attachment.h"

#include <utility>

namespace holdfast::exec_server {
namespace {

using namespace std::chrono_literals;

// The limits of one connection. 64 requests at a time are enough for any client that waits for its answers, and few
// enough that a connection whose requests hang on a dead network mount leaves workers for the others.
constexpr PathOrder::Limits kOrderLimits{.max_running = 64, .stuck_after = 10s};

}  // namespace

FileAttachment::FileAttachment(loop::WorkerPool& workers, rpc::Transport& transport, const ClientTraits& client,
                               std::string session_id)
    : session_id_(std::move(session_id)),
      transport_(transport),
      client_(client),
      handles_(workers),
      order_(kOrderLimits) {}

}  // namespace holdfast::exec_server
