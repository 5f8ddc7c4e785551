// The messages from the loop's thread to the thread of a supervisor.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "base/mutex.h"
#include "base/owned_fd.h"
#include "base/result.h"
#include "escalate/approver.h"
#include "escalate/outside/outside_command.h"

namespace holdfast::escalate {

struct Answered {
  uint64_t call;  // the id of the call that the question was about
  Answer answer;
};

struct CommandStopped {
  uint64_t stub;
  int signal;
  unsigned continue_count;
};

struct CommandEnded {
  uint64_t stub;
  Ending ending;
};

using InboxMessage = std::variant<Answered, CommandStopped, CommandEnded>;

class Inbox {
 public:
  static Result<std::unique_ptr<Inbox>> Create();

  void Put(InboxMessage message);
  // Tells the supervisor to end.
  void Close();

  // A descriptor that is readable while there are messages, or the inbox was closed.
  int fd() const { return event_.get(); }
  // Returns the messages; nothing once the inbox is closed.
  std::optional<std::vector<InboxMessage>> Take();

 private:
  explicit Inbox(OwnedFd event) : event_(std::move(event)) {}
  void Notify() const;

  const OwnedFd event_;
  Mutex mutex_;
  std::vector<InboxMessage> messages_ GUARDED_BY(mutex_);
  bool closed_ GUARDED_BY(mutex_) = false;
};

}  // namespace holdfast::escalate
