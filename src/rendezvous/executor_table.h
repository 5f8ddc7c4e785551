// The executors that have connections to this node, and those that were here a short time ago. The table owns the
// connections that wait for a client, and tells the bus about each change.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "loop/event.h"
#include "rendezvous/bus/bus.h"
#include "rendezvous/relay/pipe.h"
#include "rendezvous/ticket.h"
#include "transport/connection_slots.h"

namespace holdfast::rendezvous {

// A connection of an executor that waits for a client.
struct WaitingConnection {
  std::shared_ptr<Pipe> pipe;
  Ticket ticket;
  transport::Slot slot;  // of the executor's token
};

class ExecutorTable {
 public:
  using Clock = std::chrono::steady_clock;

  // The time for which an executor without connections is remembered: its longest pause, and the time for another
  // registration. The number of executors that are remembered is bounded.
  static constexpr std::chrono::seconds kRemembered{90};
  static constexpr size_t kMaxRemembered = 10'000;

  explicit ExecutorTable(Bus& bus) : bus_(bus) {}

  // The executor has registered, so it will connect soon.
  void Remember(const std::string& id, Clock::time_point now);
  bool Remembers(const std::string& id, Clock::time_point now) const;

  // Adds a connection under a key that is used for no other, and wakes the clients that wait.
  void Add(uint64_t key, WaitingConnection connection, Clock::time_point now);
  void Remove(const std::string& id, uint64_t key, Clock::time_point now);

  // Returns whether a connection waits, and takes one for a client. That of the latest registration comes first. The
  // executor has a session more until EndSession is called.
  bool HasWaiting(const std::string& id) const;
  std::optional<WaitingConnection> Take(const std::string& id, Clock::time_point now);
  void EndSession(const std::string& id, Clock::time_point now);

  // Removes the connections for which `ends` returns true, and returns them.
  std::vector<WaitingConnection> RemoveIf(const std::function<bool(const Ticket&)>& ends, Clock::time_point now);

  // Is notified when a connection was added.
  loop::Event& added() { return added_; }

  // Returns the executors that have connections.
  std::vector<ExecutorRecord> Records() const;

 private:
  struct Waiting {
    uint64_t key;
    WaitingConnection connection;
  };
  struct Executor {
    std::string name = {};
    int64_t since_ms = 0;
    Clock::time_point seen = {};
    std::vector<Waiting> waiting = {};
    size_t sessions = 0;

    bool is_here() const { return !waiting.empty() || sessions > 0; }
  };
  using Executors = std::map<std::string, Executor, std::less<>>;

  static ExecutorRecord RecordOf(const Executors::value_type& entry);
  void OnChanged(Executors::iterator entry, Clock::time_point now);
  void Forget(Clock::time_point now);

  Bus& bus_;
  Executors executors_;
  Clock::time_point next_forget_{};
  loop::Event added_;
};

}  // namespace holdfast::rendezvous
