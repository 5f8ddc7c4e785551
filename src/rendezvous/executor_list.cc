#include "rendezvous/executor_list.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <utility>

#include <fmt/chrono.h>
#include <fmt/format.h>

#include "wire/encode.h"

namespace holdfast::rendezvous {
namespace {

struct Entry {
  std::string id, name, since;
  uint64_t sessions = 0;

  void Fields(auto& f) {
    f.Required("id", id);
    f.Required("name", name);
    f.Required("since", since);
    f.Required("sessions", sessions);
  }
};

struct List {
  std::vector<Entry> executors;

  void Fields(auto& f) { f.Required("executors", executors); }
};

std::string TimeText(int64_t unix_ms) {
  const std::chrono::sys_time<std::chrono::milliseconds> time{std::chrono::milliseconds(unix_ms)};
  return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", std::chrono::floor<std::chrono::seconds>(time));
}

void Merge(ExecutorRecord& into, const ExecutorRecord& record) {
  if (record.since_ms > into.since_ms) into.name = record.name;
  into.since_ms = std::min(into.since_ms, record.since_ms);
  into.sessions += record.sessions;
}

}  // namespace

std::string ExecutorList(const std::vector<ExecutorRecord>& records, const TokenRights& rights) {
  std::map<std::string, ExecutorRecord> by_id;
  for (const ExecutorRecord& record : records) {
    if (!rights.Allows(record.id)) continue;
    const auto [entry, is_first] = by_id.emplace(record.id, record);
    if (!is_first) Merge(entry->second, record);
  }
  List list;
  for (const auto& [id, record] : by_id) {
    list.executors.push_back(
        {.id = id, .name = record.name, .since = TimeText(record.since_ms), .sessions = record.sessions});
  }
  return wire::Encode(std::move(list)) + "\n";
}

}  // namespace holdfast::rendezvous
