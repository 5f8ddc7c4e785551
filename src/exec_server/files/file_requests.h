// The file requests of all connections: each waits for its turn, has its work done by a worker, or by a file helper
// inside a sandbox, and is answered. Results are encoded on the worker too: the loop only sends them.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "exec_server/files/file_session.h"
#include "exec_server/files/path_order.h"
#include "files/workers/file_helpers.h"
#include "loop/byte_budget.h"
#include "loop/task.h"
#include "loop/worker_pool.h"
#include "rpc/reply.h"
#include "sandbox/launch/sandbox_spec.h"
#include "wire/encode.h"

namespace holdfast::exec_server {

// The work of a request, done on a worker. A step appends the JSON of the result, which may have `allowed` bytes at
// most. It returns zero when it is done, or how many bytes it needs to go on: it is called again once it may have them.
using FileStep = std::move_only_function<Result<size_t>(std::string& json, size_t allowed)>;

// A step that encodes what `work` returns.
template <typename T>
FileStep EncodingStep(std::move_only_function<Result<T>()> work) {
  return [work = std::move(work)](std::string& json, size_t) mutable -> Result<size_t> {
    TRY(T result, work());
    wire::Encoder(json).Value(result);
    return 0;
  };
}

// One helper, for one attempt to serve a request. The worker that has made the one call gives the helper back at once.
class HelperUse {
 public:
  explicit HelperUse(files::FileHelpers::Lease lease) : lease_(std::move(lease)) {}

  // Appends the JSON of the response.
  Result<> Call(std::string_view operation, std::string_view params_json, std::string& json);
  Result<files::File> Open(const wire::FsOpenFileParams& params);

  // The helper could not be used because a protected path has changed since its start; another one is to be asked.
  bool is_stale() const { return is_stale_; }

 private:
  std::optional<files::FileHelpers::Lease> lease_;
  bool is_stale_ = false;
};

struct FileRequest {
  // Makes the step that does the work through a helper; called once for each helper that is tried.
  using SandboxedStep = std::move_only_function<FileStep(std::shared_ptr<HelperUse> helper)>;

  std::vector<Claim> claims;
  FileStep step;                                     // without a sandbox
  std::optional<sandbox::SandboxSpec> sandbox = {};  // absent: the server does the work itself
  SandboxedStep sandboxed_step = {};                 // under a sandbox
  size_t usual_bytes = 0;  // of memory, asked for before the first step, so that most results need no second one
};

// The answer to a request while it is made.
struct FileAnswer {
  std::string json;               // the beginning of the message, and what steps append
  loop::ByteBudget::Permit room;  // for json
};

class FileRequests {
 public:
  // The memory that a step may have without asking.
  static constexpr size_t kFreeBytes = 64u << 10;

  FileRequests(loop::WorkerPool& workers, loop::ByteBudget& budget, files::FileHelpers& helpers)
      : workers_(workers), budget_(budget), helpers_(helpers) {}

  // Serves a request from its turn to its answer, as a task of `session`.
  void Start(FileSession& session, FileRequest request, rpc::PendingReply reply);

  // The two halves of it, for a request that has something to do in between.
  loop::Task<Result<>> Do(const FileSession& session, FileRequest request, std::shared_ptr<FileAnswer> answer);
  static void Send(rpc::PendingReply& reply, FileAnswer& answer, const Result<>& outcome);

  // An answer that begins as `reply` wants it. If there is no room for `usual_bytes`, it begins with less.
  std::shared_ptr<FileAnswer> Begin(const rpc::PendingReply& reply, size_t usual_bytes);

 private:
  loop::Task<> Serve(FileSession& session, FileRequest request, rpc::PendingReply reply);
  loop::Task<Result<>> DoInSandbox(std::string session_id, FileRequest request, std::shared_ptr<FileAnswer> answer);
  loop::Task<Result<>> Run(FileStep step, std::shared_ptr<FileAnswer> answer);

  loop::WorkerPool& workers_;
  loop::ByteBudget& budget_;
  files::FileHelpers& helpers_;
};

}  // namespace holdfast::exec_server
