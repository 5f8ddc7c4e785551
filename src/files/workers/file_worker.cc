#include "files/workers/file_worker.h"

#include <algorithm>

namespace holdfast::files {
namespace {

// The number of file helpers that a request tries. A helper is stale if a protected path changed since its start;
// without this bound, a path that changes again and again would keep the request going forever.
constexpr int kMaxHelpers = 3;

struct Progress {
  Result<size_t> needed;           // zero if the step is done
  std::shared_ptr<FileStep> step;  // null if the step is not called again
  bool is_stale;                   // whether the step has to be called again with another file helper
};

// Calls the step, on a thread of the pool. The thread has the step alone, so that it can destroy a step that is done
// without waking another thread. Destroying a step may take time, because it may own a file.
Progress Advance(std::shared_ptr<FileStep> step, std::optional<HelperUse> helper, std::string& json, size_t allowed) {
  auto needed = (*step)(helper ? &*helper : nullptr, json, allowed);
  const bool is_stale = helper && helper->is_stale();
  const bool is_done = !needed || *needed == 0;
  if (is_done && !is_stale) step.reset();
  return {std::move(needed), std::move(step), is_stale};
}

}  // namespace

loop::Task<Result<FileWorker>> FileWorkers::For(std::string session_id, std::optional<sandbox::SandboxSpec> sandbox) {
  FileWorker worker(*this, std::move(session_id), std::move(sandbox));
  if (worker.sandbox_) {
    const auto leased = co_await worker.LeaseHelper();
    if (!leased) co_return std::unexpected(leased.error());
  }
  co_return worker;
}

loop::Task<Result<>> FileWorker::LeaseHelper() {
  auto lease = co_await workers_.helpers_.Acquire(session_id_, *sandbox_);
  if (!lease) co_return std::unexpected(std::move(lease).error());
  helper_.emplace(*std::move(lease));
  co_return Result<>();
}

loop::Task<Result<>> FileWorker::Do(FileStep wanted, std::shared_ptr<FileAnswer> answer) {
  auto step = workers_.threads_.Share(std::move(wanted));
  const size_t head_bytes = answer->json.size();
  for (int helpers = 1;;) {
    auto advance = [step = std::move(step), helper = std::exchange(helper_, std::nullopt), &json = answer->json,
                    allowed = std::max(answer->room.bytes(), kFreeBytes)]() mutable {
      return Advance(std::move(step), std::move(helper), json, allowed);
    };
    auto progress = co_await workers_.threads_.Do(std::move(advance), answer);
    step = std::move(progress.step);
    Result<> next;
    if (progress.is_stale && helpers < kMaxHelpers) {
      ++helpers;
      answer->json.resize(head_bytes);
      next = co_await LeaseHelper();
    } else if (!progress.needed) {
      next = std::unexpected(std::move(progress.needed).error());
    } else if (*progress.needed == 0) {
      co_return next;
    } else {
      next = co_await answer->room.Await(*progress.needed);
    }
    if (!next) co_return next;
  }
}

}  // namespace holdfast::files
