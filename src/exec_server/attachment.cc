#include "exec_server/attachment.h"

namespace holdfast::exec_server {
namespace {

using namespace std::chrono_literals;

// Enough for any client that waits for answers; few enough that a dead network mount under one connection leaves
// workers for the others.
constexpr PathOrder::Limits kOrderLimits{.max_running = 64, .stuck_after = 10s};

}  // namespace

Attachment::Attachment(loop::WorkerPool& workers, rpc::Transport& transport, const ClientTraits& client)
    : transport_(transport), client_(client), handles_(workers), order_(kOrderLimits) {}

void Attachment::OnFileAnswer() {
  if (transport_.congested()) order_.Hold();
}

void Attachment::OnDrained() {
  order_.Release();
  exchanges_.ResumeAll();
}

}  // namespace holdfast::exec_server
