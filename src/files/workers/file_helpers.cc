#include "files/workers/file_helpers.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

namespace holdfast::files {
namespace {

using Clock = std::chrono::steady_clock;

}  // namespace

FileHelpers::FileHelpers(const sandbox::SandboxedStart::Resources& resources, Limits limits)
    : resources_(resources),
      limits_(limits),
      idle_timer_(resources.loop, [this] { EndIdle(); }),
      patience_timer_(resources.loop, [this] { StartHelpers(); }),
      leases_(resources.loop, [this](uint64_t id) { Release(id); }) {}

loop::Task<Result<FileHelpers::Lease>> FileHelpers::Acquire(std::string session_id, sandbox::SandboxSpec sandbox) {
  if (endings_.Contains(session_id)) co_return Fail(ErrorKind::kInvalidRequest, "the session is ending");
  const Waiting wanted{.key = {std::move(session_id), std::move(sandbox)}, .since = Clock::now()};
  decltype(waiting_)::Place place(waiting_, wanted);
  Serve();
  co_return co_await place;
}

void FileHelpers::End(const std::string& session_id, loop::Callback done) {
  for (Owned& owned : helpers_) {
    if (owned.key.session_id == session_id) Kill(owned);
  }
  waiting_.Serve([&](const Waiting& waiting) -> std::optional<Result<Lease>> {
    if (waiting.key.session_id != session_id) return std::nullopt;
    return Fail(ErrorKind::kInvalidRequest, "the session is ending");
  });
  endings_.Add(session_id, std::move(done));
  AnswerEnds();
}

void FileHelpers::OnHelperReady(FileHelper& helper, const Result<>& ready) {
  const auto owned = Find(&helper);
  if (ready) {
    if (owned->state == State::kStarting) SetIdle(*owned);
  } else {
    Kill(*owned);
    FailWaiting(Key(owned->key), ready.error());
  }
  Serve();
}

void FileHelpers::OnHelperGone(FileHelper& helper) {
  const auto owned = Find(&helper);
  resources_.loop.Post([keep_alive_until_unwound = std::move(owned->helper)] {});
  helpers_.erase(owned);
  AnswerEnds();
  Serve();
}

// Leases idle file helpers to the requests that wait. Requests of one session under one policy get them in the order of
// their arrival.
void FileHelpers::Serve() {
  waiting_.Serve([this](const Waiting& waiting) -> std::optional<Result<Lease>> {
    Owned* const idle = FindIdle(waiting.key);
    if (idle == nullptr) return std::nullopt;
    return LeaseOf(*idle);
  });
  StartHelpers();
}

// Returns an idle file helper with this key, or null. A file helper that was killed a moment ago is not leased: the end
// of its socket is seen before its keeper tells of its death.
FileHelpers::Owned* FileHelpers::FindIdle(const Key& key) {
  for (Owned& owned : helpers_) {
    if (owned.state != State::kIdle || owned.key != key) continue;
    if (owned.helper->link()->IsQuiet()) return &owned;
    Kill(owned);
  }
  return nullptr;
}

// Returns whether another file helper should be started for a request that has waited since `since`. The first one for
// a policy is started at once, and further ones when a request has waited for a while.
bool FileHelpers::WantsHelper(const Key& key, Clock::time_point since) const {
  size_t alive = 0;
  for (const Owned& owned : helpers_) {
    if (owned.state == State::kEnding || owned.key != key) continue;
    if (owned.state == State::kStarting) return false;
    ++alive;
  }
  return alive == 0 || (alive < limits_.per_policy && Clock::now() - since >= limits_.patience);
}

void FileHelpers::StartHelpers() {
  std::vector<std::pair<Key, Error>> failures;
  waiting_.ForEach([&](const Waiting& waiting) {
    if (!WantsHelper(waiting.key, waiting.since) || !MakeRoom()) return;
    if (auto started = StartHelper(waiting.key); !started) failures.emplace_back(waiting.key, started.error());
  });
  for (const auto& [key, error] : failures) FailWaiting(key, error);
  if (!waiting_.empty() && !patience_timer_.running()) patience_timer_.Start(limits_.patience);
}

// Returns whether one more file helper may be started; if necessary, it ends the one that has been idle for the longest
// time. File helpers that are ending do not count, because no request uses them.
bool FileHelpers::MakeRoom() {
  if (helpers_.size() - Count(State::kEnding) < limits_.helpers) return true;
  auto oldest = helpers_.end();
  for (auto owned = helpers_.begin(); owned != helpers_.end(); ++owned) {
    if (owned->state != State::kIdle) continue;
    if (oldest == helpers_.end() || owned->idle_since < oldest->idle_since) oldest = owned;
  }
  if (oldest == helpers_.end()) return false;
  Kill(*oldest);
  return true;
}

Result<> FileHelpers::StartHelper(const Key& key) {
  TRY(auto helper, FileHelper::Start(resources_, key.session_id, key.sandbox, *this));
  helpers_.push_back({next_id_++, key, std::move(helper)});
  return {};
}

void FileHelpers::FailWaiting(const Key& key, const Error& error) {
  waiting_.Serve([&](const Waiting& waiting) -> std::optional<Result<Lease>> {
    if (waiting.key != key) return std::nullopt;
    return std::unexpected(error);
  });
}

FileHelpers::Lease FileHelpers::LeaseOf(Owned& owned) {
  owned.state = State::kLeased;
  return {leases_.Issue(owned.id), owned.helper->link()};
}

void FileHelpers::Release(uint64_t id) {
  const auto owned = std::ranges::find(helpers_, id, &Owned::id);
  if (owned == helpers_.end() || owned->state != State::kLeased) return;
  if (owned->helper->link()->broken()) {
    Kill(*owned);
  } else {
    SetIdle(*owned);
  }
  Serve();
}

void FileHelpers::SetIdle(Owned& owned) {
  owned.state = State::kIdle;
  owned.idle_since = Clock::now();
  if (!idle_timer_.running()) idle_timer_.Start(limits_.idle_time);
}

void FileHelpers::EndIdle() {
  auto next = Clock::time_point::max();
  for (Owned& owned : helpers_) {
    if (owned.state != State::kIdle) continue;
    const auto end = owned.idle_since + limits_.idle_time;
    if (end <= Clock::now()) {
      Kill(owned);
    } else {
      next = std::min(next, end);
    }
  }
  if (next == Clock::time_point::max()) return;
  idle_timer_.Start(std::chrono::ceil<std::chrono::milliseconds>(next - Clock::now()));
}

void FileHelpers::Kill(Owned& owned) {
  if (owned.state == State::kEnding) return;
  owned.state = State::kEnding;
  owned.helper->Kill();
}

void FileHelpers::AnswerEnds() {
  endings_.Answer([this](const std::string& session_id) {
    return std::ranges::any_of(helpers_, [&](const Owned& owned) { return owned.key.session_id == session_id; });
  });
}

FileHelpers::OwnedIterator FileHelpers::Find(const FileHelper* helper) {
  return std::ranges::find_if(helpers_, [helper](const Owned& owned) { return owned.helper.get() == helper; });
}

size_t FileHelpers::Count(State state) const {
  return static_cast<size_t>(std::ranges::count(helpers_, state, &Owned::state));
}

}  // namespace holdfast::files
