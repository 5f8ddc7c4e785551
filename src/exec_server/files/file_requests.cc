#include "exec_server/files/file_requests.h"

#include <utility>

namespace holdfast::exec_server {
namespace {

void Refuse(FileRequest& request, rpc::PendingReply& reply, const Error& error) {
  if (request.on_failure) request.on_failure();
  reply.Fail(error);
}

}  // namespace

void FileRequests::Start(FileAttachment& attachment, FileRequest request, rpc::PendingReply reply) {
  attachment.Start(Serve(attachment, std::move(request), std::move(reply)));
}

loop::Task<> FileRequests::Serve(FileAttachment& attachment, FileRequest request, rpc::PendingReply reply) {
  const auto turn = co_await attachment.order().Enter(std::move(request.claims));
  if (!turn) co_return Refuse(request, reply, turn.error());
  if (request.sandbox && attachment.ending()) {
    co_return Refuse(request, reply, {ErrorKind::kInvalidRequest, "the session is ending"});
  }
  auto worker = co_await workers_.For(attachment.session_id(), std::move(request.sandbox));
  if (!worker) co_return Refuse(request, reply, worker.error());
  const auto answer = Begin(reply, request.usual_bytes);
  const auto done = co_await worker->Do(std::move(request.step), answer);
  if (!done) co_return Refuse(request, reply, done.error());
  reply.SucceedEncoded(std::move(answer->json));
}

// Returns an answer with the beginning of the message that `reply` will send. It has a permit for `usual_bytes` if the
// budget has room for them; otherwise the step asks for memory when it needs it.
std::shared_ptr<files::FileAnswer> FileRequests::Begin(const rpc::PendingReply& reply, size_t usual_bytes) {
  auto answer = std::make_shared<files::FileAnswer>(reply.Begin(), budget_.Open());
  (void)answer->room.TryResize(usual_bytes);
  return answer;
}

}  // namespace holdfast::exec_server
