// Keeps the file requests of one connection in order where they touch the same path: the later one starts when the
// earlier one has ended. Requests that touch different paths, or only read, do not wait for each other.
//
// Paths are compared as text, a directory counts for all below it. Two names of one file, through a symbolic link say,
// are two paths here.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <list>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "files/operations/claim.h"

namespace holdfast::exec_server {

using files::Access;
using files::Claim;

class PathOrder {
 public:
  struct Limits {
    size_t max_running;                     // the rest waits
    std::chrono::milliseconds stuck_after;  // when all that run are older, further ones are refused
  };

  // The right to touch what was claimed, until it is destroyed; it may outlive the order.
  using Turn = std::shared_ptr<void>;
  using Start = std::move_only_function<void(Turn)>;

  explicit PathOrder(Limits limits);
  ~PathOrder();  // what waits is dropped
  PathOrder(const PathOrder&) = delete;
  PathOrder& operator=(const PathOrder&) = delete;

  // Calls `start` at once, or when nothing earlier is in its way. Fails when too much is stuck.
  Result<> Enter(std::vector<Claim> claims, Start start);

  // Whether a request with this claim would start at once.
  bool IsFree(const Claim& claim) const;

  // While held, nothing further starts.
  void Hold() { held_ = true; }
  void Release();

 private:
  using Clock = std::chrono::steady_clock;
  struct Request {
    std::vector<Claim> claims;
    Start start;  // empty once started
    Clock::time_point started_at;
  };
  using Requests = std::list<Request>;

  bool InTheWay(const Request& earlier, const Claim& claim) const;
  bool CanStart(Requests::const_iterator request) const;
  bool AllStuck() const;
  void StartNow(Requests::iterator request);
  void StartWaiting();
  void Leave(Requests::iterator request);

  Limits limits_;
  Requests requests_;  // in the order they came
  size_t running_ = 0;
  bool held_ = false;
  bool starting_ = false;
  std::shared_ptr<PathOrder*> self_;  // what a turn holds weakly
};

}  // namespace holdfast::exec_server
