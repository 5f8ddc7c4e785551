#include "files/workers/file_helpers.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

namespace holdfast::files {
namespace {

using Clock = std::chrono::steady_clock;

}  // namespace

FileHelpers::FileHelpers(loop::EventLoop& loop, process::Spawner& spawner, const sandbox::SandboxProgram& program)
    : FileHelpers(loop, spawner, program, Limits()) {}

FileHelpers::FileHelpers(loop::EventLoop& loop, process::Spawner& spawner, const sandbox::SandboxProgram& program,
                         Limits limits)
    : loop_(loop),
      spawner_(spawner),
      program_(program),
      limits_(limits),
      idle_timer_(loop, [this] { EndIdle(); }),
      patience_timer_(loop, [this] { StartHelpers(); }),
      leases_(loop, [this](uint64_t id) { Release(id); }) {}

loop::Task<Result<FileHelpers::Lease>> FileHelpers::Acquire(std::string session_id, sandbox::SandboxSpec sandbox) {
  if (endings_.Contains(session_id)) co_return Fail(ErrorKind::kInvalidRequest, "the session is ending");
  const Waiting wanted{.key = {std::move(session_id), std::move(sandbox)}, .since = Clock::now()};
  decltype(waiting_)::Place place(waiting_, wanted);
  Serve();
  co_return co_await place;
}

void FileHelpers::End(const std::string& session_id, loop::Callback done) {
  for (Held& held : helpers_) {
    if (held.key.session_id == session_id) Kill(held);
  }
  waiting_.Serve([&](const Waiting& waiting) -> std::optional<Result<Lease>> {
    if (waiting.key.session_id != session_id) return std::nullopt;
    return Fail(ErrorKind::kInvalidRequest, "the session is ending");
  });
  endings_.Add(session_id, std::move(done));
  AnswerEnds();
}

void FileHelpers::OnHelperReady(FileHelper& helper, const Result<>& ready) {
  const auto held = Find(&helper);
  if (ready) {
    if (held->state == State::kStarting) SetIdle(*held);
  } else {
    Kill(*held);
    FailWaiting(Key(held->key), ready.error());
  }
  Serve();
}

void FileHelpers::OnHelperGone(FileHelper& helper) {
  const auto held = Find(&helper);
  loop_.Post([keep_alive_until_unwound = std::move(held->helper)] {});
  helpers_.erase(held);
  AnswerEnds();
  Serve();
}

// Leases idle file helpers to the requests that wait. Requests of one session under one policy get them in the order of
// their arrival.
void FileHelpers::Serve() {
  waiting_.Serve([this](const Waiting& waiting) -> std::optional<Result<Lease>> {
    Held* const idle = FindIdle(waiting.key);
    if (idle == nullptr) return std::nullopt;
    return LeaseOf(*idle);
  });
  StartHelpers();
}

// Returns an idle file helper with this key, or null. A file helper that was killed a moment ago is not leased: the end
// of its socket is seen before its keeper tells of its death.
FileHelpers::Held* FileHelpers::FindIdle(const Key& key) {
  for (Held& held : helpers_) {
    if (held.state != State::kIdle || held.key != key) continue;
    if (held.helper->link()->IsQuiet()) return &held;
    Kill(held);
  }
  return nullptr;
}

// Returns whether another file helper should be started for a request that has waited since `since`. The first one for
// a policy is started at once, and further ones when a request has waited for a while.
bool FileHelpers::WantsHelper(const Key& key, Clock::time_point since) const {
  size_t alive = 0;
  for (const Held& held : helpers_) {
    if (held.state == State::kEnding || held.key != key) continue;
    if (held.state == State::kStarting) return false;
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
  for (auto held = helpers_.begin(); held != helpers_.end(); ++held) {
    if (held->state != State::kIdle) continue;
    if (oldest == helpers_.end() || held->idle_since < oldest->idle_since) oldest = held;
  }
  if (oldest == helpers_.end()) return false;
  Kill(*oldest);
  return true;
}

Result<> FileHelpers::StartHelper(const Key& key) {
  TRY(const process::Command command, program_.FileHelper(key.sandbox));
  TRY(auto helper, FileHelper::Start(loop_, spawner_, command, *this));
  helpers_.push_back({next_id_++, key, std::move(helper)});
  return {};
}

void FileHelpers::FailWaiting(const Key& key, const Error& error) {
  waiting_.Serve([&](const Waiting& waiting) -> std::optional<Result<Lease>> {
    if (waiting.key != key) return std::nullopt;
    return std::unexpected(error);
  });
}

FileHelpers::Lease FileHelpers::LeaseOf(Held& held) {
  held.state = State::kLeased;
  return {leases_.Issue(held.id), held.helper->link()};
}

void FileHelpers::Release(uint64_t id) {
  const auto held = std::ranges::find(helpers_, id, &Held::id);
  if (held == helpers_.end() || held->state != State::kLeased) return;
  if (held->helper->link()->broken()) {
    Kill(*held);
  } else {
    SetIdle(*held);
  }
  Serve();
}

void FileHelpers::SetIdle(Held& held) {
  held.state = State::kIdle;
  held.idle_since = Clock::now();
  if (!idle_timer_.running()) idle_timer_.Start(limits_.idle_time);
}

void FileHelpers::EndIdle() {
  auto next = Clock::time_point::max();
  for (Held& held : helpers_) {
    if (held.state != State::kIdle) continue;
    const auto end = held.idle_since + limits_.idle_time;
    if (end <= Clock::now()) {
      Kill(held);
    } else {
      next = std::min(next, end);
    }
  }
  if (next == Clock::time_point::max()) return;
  idle_timer_.Start(std::chrono::ceil<std::chrono::milliseconds>(next - Clock::now()));
}

void FileHelpers::Kill(Held& held) {
  if (held.state == State::kEnding) return;
  held.state = State::kEnding;
  held.helper->Kill();
}

void FileHelpers::AnswerEnds() {
  endings_.Answer([this](const std::string& session_id) {
    return std::ranges::any_of(helpers_, [&](const Held& held) { return held.key.session_id == session_id; });
  });
}

FileHelpers::HeldIterator FileHelpers::Find(const FileHelper* helper) {
  return std::ranges::find_if(helpers_, [helper](const Held& held) { return held.helper.get() == helper; });
}

size_t FileHelpers::Count(State state) const {
  return static_cast<size_t>(std::ranges::count(helpers_, state, &Held::state));
}

}  // namespace holdfast::files
