// RulesFiles reads the rules files that requests name, on worker threads, and keeps the policies that it has parsed. A
// policy is used again while every one of its files is the same and has not been changed, so that a start with ten
// thousand rules does not parse them each time.
//
// What it does not notice: a file that is changed without any trace in its size and times.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "exec_policy/policy.h"
#include "loop/task.h"
#include "loop/worker_pool.h"

namespace holdfast::exec_server {

class RulesFiles {
 public:
  using PolicyPtr = std::shared_ptr<const exec_policy::Policy>;

  // These are limits of one policy. Each file may have as many bytes as the interpreter takes (starlark/budget.h).
  static constexpr size_t kMaxFiles = 64;
  static constexpr size_t kMaxBytes = 16u << 20;

  // The times of files are coarse, so that a change which follows another one at once may leave no trace. A policy is
  // kept only if all of its files have been left alone for the settle time.
  static constexpr std::chrono::nanoseconds kSettleTime = std::chrono::seconds(2);

  explicit RulesFiles(loop::WorkerPool& workers, std::chrono::nanoseconds settle_time = kSettleTime);

  // Returns the rules of all files. `paths` are absolute paths or file: URIs. The error of a file that cannot be read,
  // or whose rules are wrong, is kInvalidParams, and has the text of the diagnosis.
  loop::Task<Result<PolicyPtr>> Load(std::vector<std::string> paths);

 private:
  class Kept;

  loop::WorkerPool& workers_;
  const std::shared_ptr<Kept> kept_;  // shared with the workers
};

}  // namespace holdfast::exec_server
