// Runs the file work of a request on a worker, in its turn, and answers with what came out. Results are encoded on the
// worker too: the loop only sends them.
#pragma once

#include <cstddef>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "exec_server/files/file_session.h"
#include "exec_server/files/path_order.h"
#include "loop/byte_budget.h"
#include "loop/worker_pool.h"
#include "rpc/reply.h"
#include "wire/encode.h"

namespace holdfast::exec_server {

class FileJobs {
 public:
  // Appends the JSON of the result, which may have `allowed` bytes at most. What it returns is how many it needs to go
  // on: it is called again once it may have them; zero when it is done; kThroughGate to be called again as if it had
  // not begun, after the gate.
  using Step = std::move_only_function<Result<size_t>(std::string& json, size_t allowed)>;
  // Runs on the loop when the job's turn has come, and lets it begin, now or later, or fail.
  using Begin = std::move_only_function<void(Result<>)>;
  using Gate = std::move_only_function<void(Begin begin)>;
  // Runs on the loop before the answer leaves.
  using Settled = std::move_only_function<void(const Result<>& outcome)>;

  static constexpr size_t kThroughGate = std::numeric_limits<size_t>::max();

  // What a step may have without asking.
  static constexpr size_t kFreeBytes = 64u << 10;

  FileJobs(loop::WorkerPool& workers, loop::ByteBudget& budget) : workers_(workers), budget_(budget) {}

  // `usual_bytes` are asked for before the first call, so that most results need no second one. If there is no room for
  // them, the step begins with less.
  void RunSteps(FileSession& session, std::vector<Claim> claims, Step step, rpc::PendingReply reply,
                Settled settled = {}, Gate gate = {}, size_t usual_bytes = 0);

  template <typename T>
  void Run(FileSession& session, std::vector<Claim> claims, std::move_only_function<Result<T>()> work,
           rpc::Reply<T> reply, Settled settled = {}, Gate gate = {}) {
    auto step = [work = std::move(work)](std::string& json, size_t) mutable -> Result<size_t> {
      TRY(T result, work());
      wire::Encoder(json).Value(result);
      return 0;
    };
    RunSteps(session, std::move(claims), std::move(step), std::move(reply).Untyped(), std::move(settled),
             std::move(gate));
  }

 private:
  struct Job;

  void BeginAtTurn(const std::shared_ptr<Job>& job);
  void RunStep(std::shared_ptr<Job> job);
  void Finish(const std::shared_ptr<Job>& job, const Result<>& outcome);
  void OnStep(std::shared_ptr<Job> job);
  void OnRoom(const std::shared_ptr<Job>& job, const Result<>& room);

  loop::WorkerPool& workers_;
  loop::ByteBudget& budget_;
};

}  // namespace holdfast::exec_server
