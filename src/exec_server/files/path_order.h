// Keeps the file requests of one connection in order where they touch the same path: the later one starts when the
// earlier one has ended. Requests that touch different paths, or only read, do not wait for each other.
//
// Paths are compared as text, a directory counts for all below it. Two names of one file, through a symbolic link say,
// are two paths here.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "base/result.h"
#include "files/operations/claim.h"
#include "loop/permit.h"
#include "loop/queue.h"
#include "loop/task.h"

namespace holdfast::exec_server {

using files::Access;
using files::Claim;

class PathOrder {
 public:
  struct Limits {
    size_t max_running;                     // the rest waits
    std::chrono::milliseconds stuck_after;  // when all that run are older, further ones are refused
  };

  // The right to touch what was claimed; it may outlive the order.
  using Turn = loop::Permit;

  explicit PathOrder(Limits limits);
  PathOrder(const PathOrder&) = delete;
  PathOrder& operator=(const PathOrder&) = delete;

  // Gives the turn when nothing earlier is in its way. Fails at once when too much is stuck.
  loop::Task<Result<Turn>> Enter(std::vector<Claim> claims);

  // Whether a request with this claim would start at once.
  bool IsFree(const Claim& claim) const;

  // While held, nothing further starts.
  void Hold() { held_ = true; }
  void Release();

 private:
  using Clock = std::chrono::steady_clock;
  struct Request {
    std::vector<Claim> claims;
    std::optional<Clock::time_point> started_at = {};  // absent while it waits
  };
  using Id = uint64_t;
  using Requests = std::map<Id, Request>;
  struct Start {};

  bool InTheWay(const Request& earlier, const Claim& claim) const;
  bool CanStart(Requests::const_iterator request) const;
  bool AllStuck() const;
  void StartWaiting();
  void Leave(Id id);

  const Limits limits_;
  Requests requests_;  // in the order they came
  Id next_id_ = 1;
  size_t running_ = 0;
  bool held_ = false;
  loop::Permits turns_;
  loop::Queue<Id, Start> waiting_;
};

}  // namespace holdfast::exec_server
