// Endings wait for the end of groups of things, such as the helpers of a session. The owner of the things adds a group
// that has to end, and asks for an answer each time that one of them is gone.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "loop/event_loop.h"

namespace holdfast::loop {

class Endings {
 public:
  // `done` runs in the first call of Answer that finds nothing of the group alive.
  void Add(std::string group, Callback done);

  // Returns whether a group is ending. The owner adds nothing to such a group.
  bool Contains(const std::string& group) const;

  // Runs the callbacks of the groups of which nothing is alive. A callback may add a group.
  void Answer(const std::function<bool(const std::string& group)>& is_alive);

 private:
  struct Ending {
    std::string group;
    Callback done;
  };

  std::vector<Ending> endings_;
};

}  // namespace holdfast::loop
