#include "rendezvous/executor_table.h"

#include <algorithm>
#include <utility>

namespace holdfast::rendezvous {
namespace {

constexpr std::chrono::seconds kForgetInterval{10};

int64_t UnixTimeMs() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::milliseconds>(now).count();
}

}  // namespace

void ExecutorTable::Remember(const std::string& id, Clock::time_point now) {
  Forget(now);
  const auto found = executors_.find(id);
  if (found != executors_.end()) {
    found->second.seen = now;
  } else if (executors_.size() < kMaxRemembered) {
    executors_.emplace(id, Executor{.seen = now});
  }
}

bool ExecutorTable::Remembers(const std::string& id, Clock::time_point now) const {
  const auto found = executors_.find(id);
  return found != executors_.end() && (found->second.is_here() || now - found->second.seen <= kRemembered);
}

void ExecutorTable::Add(uint64_t key, WaitingConnection connection, Clock::time_point now) {
  Forget(now);
  const auto entry = executors_.try_emplace(connection.ticket.executor_id).first;
  Executor& executor = entry->second;
  if (!executor.is_here()) executor.since_ms = UnixTimeMs();
  executor.name = connection.ticket.name;
  executor.waiting.push_back({.key = key, .connection = std::move(connection)});
  OnChanged(entry, now);
  added_.Notify();
}

void ExecutorTable::Remove(const std::string& id, uint64_t key, Clock::time_point now) {
  const auto entry = executors_.find(id);
  if (entry == executors_.end()) return;
  std::erase_if(entry->second.waiting, [key](const Waiting& waiting) { return waiting.key == key; });
  OnChanged(entry, now);
}

bool ExecutorTable::HasWaiting(const std::string& id) const {
  const auto found = executors_.find(id);
  return found != executors_.end() && !found->second.waiting.empty();
}

std::optional<WaitingConnection> ExecutorTable::Take(const std::string& id, Clock::time_point now) {
  if (!HasWaiting(id)) return std::nullopt;
  const auto entry = executors_.find(id);
  Executor& executor = entry->second;
  const auto latest = std::ranges::max_element(
      executor.waiting, {}, [](const Waiting& waiting) { return waiting.connection.ticket.registration_id; });
  WaitingConnection taken = std::move(latest->connection);
  executor.waiting.erase(latest);
  ++executor.sessions;
  OnChanged(entry, now);
  return taken;
}

void ExecutorTable::EndSession(const std::string& id, Clock::time_point now) {
  const auto entry = executors_.find(id);
  if (entry == executors_.end() || entry->second.sessions == 0) return;
  --entry->second.sessions;
  OnChanged(entry, now);
}

std::vector<WaitingConnection> ExecutorTable::RemoveIf(const std::function<bool(const Ticket&)>& ends,
                                                       Clock::time_point now) {
  std::vector<WaitingConnection> removed;
  for (auto entry = executors_.begin(); entry != executors_.end(); ++entry) {
    auto& waiting = entry->second.waiting;
    const auto rest = std::ranges::partition(waiting, [&](const Waiting& it) { return !ends(it.connection.ticket); });
    if (rest.empty()) continue;
    for (Waiting& it : rest) removed.push_back(std::move(it.connection));
    waiting.erase(rest.begin(), rest.end());
    OnChanged(entry, now);
  }
  return removed;
}

std::vector<ExecutorRecord> ExecutorTable::Records() const {
  std::vector<ExecutorRecord> records;
  for (const auto& entry : executors_) {
    if (entry.second.is_here()) records.push_back(RecordOf(entry));
  }
  return records;
}

ExecutorRecord ExecutorTable::RecordOf(const Executors::value_type& entry) {
  const auto& [id, executor] = entry;
  return {.id = id,
          .name = executor.name,
          .since_ms = executor.since_ms,
          .waiting = executor.waiting.size(),
          .sessions = executor.sessions};
}

void ExecutorTable::OnChanged(Executors::iterator entry, Clock::time_point now) {
  entry->second.seen = now;
  if (entry->second.is_here()) {
    bus_.Publish(RecordOf(*entry));
  } else {
    bus_.Withdraw(entry->first);
  }
}

// The table is searched at intervals only, because it may be long.
void ExecutorTable::Forget(Clock::time_point now) {
  if (now < next_forget_) return;
  next_forget_ = now + kForgetInterval;
  std::erase_if(executors_, [&](const auto& entry) { return !Remembers(entry.first, now); });
}

}  // namespace holdfast::rendezvous
