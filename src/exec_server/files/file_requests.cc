#include "exec_server/files/file_requests.h"

#include <algorithm>
#include <utility>

namespace holdfast::exec_server {
namespace {

// The number of file helpers that a request tries. A helper is stale if a protected path changed since its start;
// without this bound, a path that changes again and again would keep the request going forever.
constexpr int kMaxHelpers = 3;

}  // namespace

Result<> HelperUse::Call(std::string_view operation, std::string_view params_json, std::string& json) {
  return EndLeaseAfter((*lease_)->Call(operation, params_json, json));
}

Result<files::File> HelperUse::Open(const wire::FsOpenFileParams& params) {
  return EndLeaseAfter((*lease_)->Open(params));
}

template <typename T>
Result<T> HelperUse::EndLeaseAfter(Result<T> outcome) {
  is_stale_ = (*lease_)->stale();
  lease_.reset();
  return outcome;
}

void FileRequests::Start(FileSession& session, FileRequest request, rpc::PendingReply reply) {
  session.Start(Serve(session, std::move(request), std::move(reply)));
}

loop::Task<> FileRequests::Serve(FileSession& session, FileRequest request, rpc::PendingReply reply) {
  const auto turn = co_await session.order().Enter(std::move(request.claims));
  if (!turn) co_return reply.Fail(turn.error());
  const auto answer = Begin(reply, request.usual_bytes);
  const auto outcome = co_await Do(session, std::move(request), answer);
  Send(reply, *answer, outcome);
}

std::shared_ptr<FileAnswer> FileRequests::Begin(const rpc::PendingReply& reply, size_t usual_bytes) {
  auto answer = std::make_shared<FileAnswer>(reply.Begin(), budget_.Open());
  (void)answer->room.TryResize(usual_bytes);  // if there is no room, the step asks for memory when it needs it
  return answer;
}

void FileRequests::Send(rpc::PendingReply& reply, FileAnswer& answer, const Result<>& outcome) {
  if (!outcome) return reply.Fail(outcome.error());
  reply.SucceedEncoded(std::move(answer.json));
}

loop::Task<Result<>> FileRequests::Do(const FileSession& session, FileRequest request,
                                      std::shared_ptr<FileAnswer> answer) {
  if (request.sandbox) return DoInSandbox(session.session_id(), std::move(request), std::move(answer));
  return Run(std::move(request.step), std::move(answer));
}

loop::Task<Result<>> FileRequests::DoInSandbox(std::string session_id, FileRequest request,
                                               std::shared_ptr<FileAnswer> answer) {
  const size_t head_bytes = answer->json.size();
  for (int helpers = 1;; ++helpers) {
    auto lease = co_await helpers_.Acquire(session_id, *request.sandbox);
    if (!lease) co_return std::unexpected(std::move(lease).error());
    const auto helper = std::make_shared<HelperUse>(*std::move(lease));
    auto outcome = co_await Run(request.sandboxed_step(helper), answer);
    if (!helper->is_stale() || helpers == kMaxHelpers) co_return outcome;
    answer->json.resize(head_bytes);
  }
}

// Runs a step on workers until it is done. A worker destroys the step, because it may own a file, and closing the file
// may take time. The answer is kept until the worker is done with it, even if the connection ends before, so that its
// memory is counted until then.
loop::Task<Result<>> FileRequests::Run(FileStep wanted, std::shared_ptr<FileAnswer> answer) {
  auto step = workers_.Share(std::move(wanted));
  for (;;) {
    // The worker has the step alone, so that it can destroy a step that is done without waking another worker.
    auto work = [step = std::move(step), &json = answer->json,
                 allowed = std::max(answer->room.bytes(), kFreeBytes)]() mutable {
      auto progress = (*step)(json, allowed);
      if (!progress || *progress == 0) step.reset();
      return std::pair(std::move(progress), std::move(step));
    };
    auto [needed, unfinished] = co_await workers_.Do(std::move(work), answer);
    step = std::move(unfinished);
    if (!needed) co_return std::unexpected(std::move(needed).error());
    if (*needed == 0) co_return Result<>();
    auto room = co_await answer->room.Await(*needed);
    if (!room) co_return room;
  }
}

}  // namespace holdfast::exec_server
