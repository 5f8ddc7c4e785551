// PathOrder keeps the file requests of one connection in order if they touch the same path: the later request starts
// when the earlier one has ended. Requests that touch different paths, or only read, do not wait for each other.
//
// Paths are compared as text, and a directory includes everything below it. Two names of one file, for example through
// a symbolic link, are different paths here.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "base/result.h"
#include "files/operations/operations.h"
#include "loop/permit.h"
#include "loop/queue.h"
#include "loop/task.h"

namespace holdfast::exec_server {

using files::Access;
using files::Claim;

class PathOrder {
 public:
  struct Limits {
    size_t max_running;                     // further requests wait
    std::chrono::milliseconds stuck_after;  // if max_running requests have all run for longer, others are refused
  };

  // A turn is the permit to touch the claimed paths. It may outlive the PathOrder.
  using Turn = loop::Permit;

  explicit PathOrder(Limits limits);
  PathOrder(const PathOrder&) = delete;
  PathOrder& operator=(const PathOrder&) = delete;

  // Waits until no earlier request is in the way, and returns the turn. Fails at once if all running requests are
  // stuck.
  loop::Task<Result<Turn>> Enter(std::vector<Claim> claims);

  // Returns whether no earlier request is in the way of this claim, and the order is not held.
  bool IsFree(const Claim& claim) const;

  // No request starts between Hold and Release.
  void Hold() { held_ = true; }
  void Release();

 private:
  using Clock = std::chrono::steady_clock;
  struct Request {
    std::vector<Claim> claims;
    std::optional<Clock::time_point> started_at = {};  // empty while the request waits
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
  Requests requests_;  // in the order in which they arrived
  Id next_id_ = 1;
  size_t running_ = 0;
  bool held_ = false;
  loop::Permits turns_;
  loop::Queue<Id, Start> waiting_;
};

}  // namespace holdfast::exec_server
