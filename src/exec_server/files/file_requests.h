// FileRequests serves the file requests of all connections. Each request waits for its turn; then a worker does the
// work, or has a file helper do it inside a sandbox; then the request is answered. The worker also encodes the result,
// and the loop only sends it.
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

// A step is the work of a request, done on a worker. It appends the JSON of the result to `json`, which may have at
// most `allowed` bytes. It returns zero when it is done. Otherwise it returns how many bytes it needs, and is called
// again when it may have them.
using FileStep = std::move_only_function<Result<size_t>(std::string& json, size_t allowed)>;

// Returns a step that calls `work` and encodes its result.
template <typename T>
FileStep EncodingStep(std::move_only_function<Result<T>()> work) {
  return [work = std::move(work)](std::string& json, size_t) mutable -> Result<size_t> {
    TRY(T result, work());
    wire::Encoder(json).Value(result);
    return 0;
  };
}

// A file helper that is leased for one attempt to serve a request. It is called once, and the lease ends with that
// call.
class HelperUse {
 public:
  explicit HelperUse(files::FileHelpers::Lease lease) : lease_(std::move(lease)) {}

  // Appends the JSON of the file helper's response to `json`.
  Result<> Call(std::string_view operation, std::string_view params_json, std::string& json);
  Result<files::File> Open(const wire::FsOpenFileParams& params);

  // Returns whether the file helper refused the call because a protected path has changed since its start. The request
  // then needs another file helper.
  bool is_stale() const { return is_stale_; }

 private:
  template <typename T>
  Result<T> EndLeaseAfter(Result<T> outcome);

  std::optional<files::FileHelpers::Lease> lease_;
  bool is_stale_ = false;
};

struct FileRequest {
  // Returns the step that has `helper` do the work. Called once for each file helper that is tried.
  using SandboxedStep = std::move_only_function<FileStep(std::shared_ptr<HelperUse> helper)>;

  std::vector<Claim> claims;
  FileStep step;                                     // used without a sandbox
  std::optional<sandbox::SandboxSpec> sandbox = {};  // if empty, the server does the work itself
  SandboxedStep sandboxed_step = {};                 // used under a sandbox
  size_t usual_bytes = 0;  // memory to get before the first call of the step, so that most results need no second one
};

// The answer to a request while steps are making it.
struct FileAnswer {
  std::string json;               // the beginning of the message, and the result as far as it is made
  loop::ByteBudget::Permit room;  // counts json
};

class FileRequests {
 public:
  // The memory that a step may use without a permit.
  static constexpr size_t kFreeBytes = 64u << 10;

  FileRequests(loop::WorkerPool& workers, loop::ByteBudget& budget, files::FileHelpers& helpers)
      : workers_(workers), budget_(budget), helpers_(helpers) {}

  // Serves a request from its turn to its answer, as a task of `session`.
  void Start(FileSession& session, FileRequest request, rpc::PendingReply reply);

  // Do and Send are the two halves of serving a request, for a task that has something to do in between. Do needs the
  // turn of the request.
  loop::Task<Result<>> Do(const FileSession& session, FileRequest request, std::shared_ptr<FileAnswer> answer);
  static void Send(rpc::PendingReply& reply, FileAnswer& answer, const Result<>& outcome);

  // Returns an answer with the beginning of the message that `reply` will send. It has a permit for `usual_bytes` if
  // the budget has room for them.
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
