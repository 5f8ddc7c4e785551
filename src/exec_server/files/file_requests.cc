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
  const auto answer = Begin(reply, request.usual_bytes);
  if (request.needed_bytes > answer->room.bytes()) {
    const auto granted = co_await answer->room.Await(request.needed_bytes);
    if (!granted) co_return Refuse(request, reply, granted.error());
  }
  FilePart first{.sandbox = std::move(request.sandbox), .step = std::move(request.step)};
  auto done = co_await Do(attachment, std::move(first), answer);
  for (size_t i = 0; done && i < request.further.size(); ++i) {
    FilePart part = std::move(request.further[i]);
    done = co_await Do(attachment, std::move(part), answer);
  }
  if (!done) co_return Refuse(request, reply, done.error());
  reply.SucceedEncoded(std::move(answer->json));
}

loop::Task<Result<>> FileRequests::Do(FileAttachment& attachment, FilePart part,
                                      std::shared_ptr<files::FileAnswer> answer) {
  if (part.sandbox && attachment.ending()) {
    co_return Fail(ErrorKind::kInvalidRequest, "the session is ending");
  }
  auto worker = co_await workers_.For(attachment.session_id(), std::move(part.sandbox));
  if (!worker) co_return std::unexpected(std::move(worker).error());
  co_return co_await worker->Do(std::move(part.step), std::move(answer));
}

// Returns an answer with the beginning of the message that `reply` will send. It has a permit for `usual_bytes` if the
// budget has room for them; otherwise the step asks for memory when it needs it.
std::shared_ptr<files::FileAnswer> FileRequests::Begin(const rpc::PendingReply& reply, size_t usual_bytes) {
  auto answer = std::make_shared<files::FileAnswer>(reply.Begin(), budget_.Open());
  (void)answer->room.TryResize(usual_bytes);
  return answer;
}

}  // namespace holdfast::exec_server
