// The streams of the processes that a session follows. It directs each event to the stream of its process, and drops
// the events of other processes.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "client/event_stream.h"
#include "wire/json.h"
#include "wire/notification.h"

namespace holdfast::client {

class EventStreams final : EventStream::Owner {
 public:
  class Owner {
   public:
    virtual ~Owner() = default;
    virtual void OnBacklog() = 0;  // a stream has become full, has room again, or wants to be read
  };
  using Stream = std::shared_ptr<EventStream>;
  using Named = std::pair<std::string, Stream>;

  explicit EventStreams(Owner& owner) : owner_(owner) {}

  // A process that is kExpected is about to be started, and the server may not know it.
  enum class Existence { kExpected, kCertain };
  Stream Follow(const std::string& process_id, Existence existence, Backlog backlog, uint64_t after_seq);
  void SetCertain(const std::string& process_id);
  // Stops following, unless another stream follows this process by now.
  void Forget(const std::string& process_id, const EventStream& stream);
  bool Follows(const std::string& process_id) const { return followed_.contains(process_id); }

  // The connection has brought output, or another notification. Returns whether the notification was about a process;
  // a message that breaks the protocol is an error.
  Result<> OnOutput(const wire::OutputFrame& frame);
  Result<bool> OnNotification(std::string_view method, wire::Json params);
  void FailAll(const Error& error);

  bool any_full() const;
  std::vector<Named> certain() const;  // those that the server must know
  std::vector<Named> wanting_retained() const;

 private:
  struct Followed {
    Stream stream;
    Existence existence;
  };

  template <typename Notification>
  Result<> TakeEvent(wire::Json params);
  Result<> TakeLoss(wire::Json params);
  void Tell(const std::string& process_id, ProcessEvent event);
  void OnBacklog(EventStream&) override { owner_.OnBacklog(); }

  Owner& owner_;
  std::map<std::string, Followed, std::less<>> followed_;
};

}  // namespace holdfast::client
