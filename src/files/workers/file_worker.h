// A FileWorker does the work of one file request: it has the threads of the worker pool run the step of the request.
// Under a sandbox it leases a file helper first, and the step has that file helper do the operation.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "base/result.h"
#include "files/workers/file_helpers.h"
#include "files/workers/file_step.h"
#include "files/workers/helper_use.h"
#include "loop/byte_budget.h"
#include "loop/task.h"
#include "loop/worker_pool.h"
#include "sandbox/policy/sandbox_spec.h"

namespace holdfast::files {

// The answer to a request while a step is making it.
struct FileAnswer {
  std::string json;               // the beginning of the message, and the result as far as it is made
  loop::ByteBudget::Permit room;  // counts json
};

class FileWorkers;

class FileWorker {
 public:
  // The memory that a step may use without a permit.
  static constexpr size_t kFreeBytes = 64u << 10;

  // Runs the step until it is done. If a file helper is stale, the step gets another one, up to three in all. While the
  // step needs more memory, it waits for room in the budget. The answer is kept until the thread is done with it, even
  // if the task ends before, so that its memory is counted until then.
  loop::Task<Result<>> Do(FileStep step, std::shared_ptr<FileAnswer> answer);

 private:
  friend FileWorkers;

  FileWorker(FileWorkers& workers, std::string session_id, std::optional<sandbox::SandboxSpec> sandbox)
      : workers_(workers), session_id_(std::move(session_id)), sandbox_(std::move(sandbox)) {}

  loop::Task<Result<>> LeaseHelper();

  FileWorkers& workers_;
  std::string session_id_;
  std::optional<sandbox::SandboxSpec> sandbox_;  // if empty, the server does the work itself
  std::optional<HelperUse> helper_;              // leased under a sandbox; Do passes it to the step
};

class FileWorkers {
 public:
  FileWorkers(loop::WorkerPool& threads, FileHelpers& helpers) : threads_(threads), helpers_(helpers) {}

  // Returns a file worker for a request of this session. Under a sandbox it waits for a file helper, and fails if none
  // can be started or if the session ends first.
  loop::Task<Result<FileWorker>> For(std::string session_id, std::optional<sandbox::SandboxSpec> sandbox);

 private:
  friend FileWorker;

  loop::WorkerPool& threads_;
  FileHelpers& helpers_;
};

}  // namespace holdfast::files
