// FileRequests serves the file requests of all connections. Each request waits for its turn and for a file worker,
// which does the work and encodes the result; the loop only sends it.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "exec_server/files/file_attachment.h"
#include "exec_server/files/path_order.h"
#include "files/workers/file_helpers.h"
#include "files/workers/file_step.h"
#include "files/workers/file_worker.h"
#include "loop/byte_budget.h"
#include "loop/task.h"
#include "loop/worker_pool.h"
#include "rpc/reply.h"
#include "sandbox/policy/sandbox_spec.h"

namespace holdfast::exec_server {

// A step of a request that has several, each in a sandbox of its own.
struct FilePart {
  std::optional<sandbox::SandboxSpec> sandbox;  // if empty, the server does the work itself
  files::FileStep step;
};

struct FileRequest {
  std::vector<Claim> claims;
  std::optional<sandbox::SandboxSpec> sandbox = {};  // if empty, the server does the work itself
  files::FileStep step;
  std::vector<FilePart> further = {};  // done one after the other when the step is done; they append to the same answer
  size_t needed_bytes = 0;             // memory to wait for, for steps that do not ask for it themselves
  size_t usual_bytes = 0;  // memory to get before the first call of the step, so that most results need no second one
  std::move_only_function<void()> on_failure = {};  // called before the error is sent
};

class FileRequests {
 public:
  FileRequests(loop::WorkerPool& threads, loop::ByteBudget& budget, files::FileHelpers& helpers)
      : workers_(threads, helpers), budget_(budget) {}

  // Serves a request from its turn to its answer, as a task of `attachment`.
  void Start(FileAttachment& attachment, FileRequest request, rpc::PendingReply reply);

 private:
  loop::Task<> Serve(FileAttachment& attachment, FileRequest request, rpc::PendingReply reply);
  loop::Task<Result<>> Do(FileAttachment& attachment, FilePart part, std::shared_ptr<files::FileAnswer> answer);
  std::shared_ptr<files::FileAnswer> Begin(const rpc::PendingReply& reply, size_t usual_bytes);

  files::FileWorkers workers_;
  loop::ByteBudget& budget_;
};

}  // namespace holdfast::exec_server
