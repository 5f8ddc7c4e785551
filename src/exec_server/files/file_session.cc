#include "exec_server/files/file_session.h"

#include <utility>

namespace holdfast::exec_server {
namespace {

using namespace std::chrono_literals;

// Enough for any client that waits for answers; few enough that a dead network mount under one connection leaves
// workers for the others.
constexpr PathOrder::Limits kOrderLimits{.max_running = 64, .stuck_after = 10s};

}  // namespace

FileSession::FileSession(loop::WorkerPool& workers, rpc::Transport& transport, const ClientTraits& client,
                         std::string session_id)
    : session_id_(std::move(session_id)),
      transport_(transport),
      client_(client),
      handles_(workers),
      order_(kOrderLimits) {}

}  // namespace holdfast::exec_server
