#include "sandbox/launchers/launchers.h"

#include <algorithm>
#include <utility>

#include "sys/io.h"
#include "sys/socket_pair.h"

namespace holdfast::sandbox {

Launchers::Launchers(loop::EventLoop& loop, process::Spawner& spawner, const SandboxProgram& program, Limits limits,
                     OnFailure on_failure)
    : loop_(loop),
      spawner_(spawner),
      program_(program),
      limits_(limits),
      on_failure_(std::move(on_failure)),
      idle_timer_(loop, [this] { DismissIdle(); }) {}

bool Launchers::Serve(const SandboxSpec& sandbox) const {
  return limits_.launchers > 0 && sandbox.profile.type != ProfileType::kDisabled && !sandbox.proxies &&
         !sandbox.legacy_landlock;
}

std::optional<Launchers::Id> Launchers::Send(const Key& key, const LaunchRequest& request, std::span<const int> fds) {
  Held* held = FindFresh(key, request.plan_key);
  if (held == nullptr) held = StartOne(key, request.plan_key);
  if (held == nullptr || !held->launcher->Send(request, fds)) return std::nullopt;
  held->last_use = Clock::now();
  if (!idle_timer_.running()) idle_timer_.Start(limits_.idle_time);
  return held->id;
}

// Returns the launcher with this key, and lets it go if it is stale.
Launchers::Held* Launchers::FindFresh(const Key& key, const PlanKey& plan_key) {
  const uint64_t mounts = mount_changes_.Count();
  for (Held& held : launchers_) {
    if (held.launcher->is_let_go() || held.key != key) continue;
    if (held.plan_key == plan_key && held.mounts == mounts) return &held;
    Dismiss(held);
  }
  return nullptr;
}

// The mounts are counted before the launcher copies them.
Launchers::Held* Launchers::StartOne(const Key& key, const PlanKey& plan_key) {
  if (!MayStart(key) || !MakeRoom()) return nullptr;
  const uint64_t mounts = mount_changes_.Count();
  auto launcher = StartLauncher(key);
  if (!launcher) {
    Remember(key);
    on_failure_(key.session_id, launcher.error());
    return nullptr;
  }
  return &launchers_.emplace_back(Held{.id = next_id_++,
                                       .key = key,
                                       .plan_key = plan_key,
                                       .mounts = mounts,
                                       .launcher = *std::move(launcher),
                                       .last_use = Clock::now()});
}

Result<std::unique_ptr<Launcher>> Launchers::StartLauncher(const Key& key) {
  TRY(sys::SocketPair socket, sys::MakeSocketPair(sys::SocketKind::kPacket));
  TRY_VOID(sys::SetBlocking(socket.ours.get(), sys::Blocking::kNo));
  TRY(const process::Command command,
      program_.Launcher(key.sandbox, key.tmpdir, std::make_shared<const OwnedFd>(std::move(socket.theirs))));
  return Launcher::Start(loop_, spawner_, command, std::move(socket.ours), *this);
}

bool Launchers::MayStart(const Key& key) {
  std::erase_if(failed_, [now = Clock::now()](const Failed& failed) { return failed.until <= now; });
  return !endings_.Contains(key.session_id) && std::ranges::find(failed_, key, &Failed::key) == failed_.end();
}

// The oldest failure is forgotten when there are too many of them.
void Launchers::Remember(const Key& key) {
  if (failed_.size() >= limits_.launchers) failed_.erase(failed_.begin());
  failed_.push_back({key, Clock::now() + limits_.memory});
}

// Returns whether one more launcher may be started; if necessary, it lets go the one that was not used for the longest
// time. A launcher that was let go does not count, because it ends as soon as it can.
bool Launchers::MakeRoom() {
  Held* oldest = nullptr;
  size_t count = 0;
  for (Held& held : launchers_) {
    if (held.launcher->is_let_go()) continue;
    ++count;
    if (oldest == nullptr || held.last_use < oldest->last_use) oldest = &held;
  }
  if (count >= limits_.launchers && oldest != nullptr) Dismiss(*oldest);
  return limits_.launchers > 0;
}

void Launchers::OnLaunched(Id id) {
  if (Held* const held = Find(id)) held->proven = true;
}

// A launcher that is stale for the command that it was started for would be stale for the next one too. A request that
// is lost is no proof against the launcher, which may have been killed; that is known when it has ended.
void Launchers::OnNotLaunched(Id id, process::NotLaunched why) {
  Held* const held = Find(id);
  if (held == nullptr || held->launcher->is_let_go()) return;
  if (why == process::NotLaunched::kLost) return held->launcher->LetGo();
  Dismiss(*held);
  if (held->proven) return;
  Remember(held->key);
  on_failure_(held->key.session_id, {ErrorKind::kSystem, "the launcher comes to another plan than the server"});
}

void Launchers::OnLauncherEnded(Launcher& launcher, Launcher::End end, const Error& why) {
  const auto held = Find(launcher);
  launcher.LetGo();
  if (held->dismissed || end == Launcher::End::kKilled) return;
  if (!held->proven) Remember(held->key);
  on_failure_(held->key.session_id, why);
}

void Launchers::Dismiss(Held& held) {
  held.dismissed = true;
  held.launcher->LetGo();
}

void Launchers::OnLauncherGone(Launcher& launcher) {
  const auto held = Find(launcher);
  loop_.Post([keep_alive_until_unwound = std::move(held->launcher)] {});
  launchers_.erase(held);
  AnswerEnds();
}

void Launchers::DismissIdle() {
  auto next = Clock::time_point::max();
  for (Held& held : launchers_) {
    if (held.launcher->is_let_go()) continue;
    const auto end = held.last_use + limits_.idle_time;
    if (end <= Clock::now()) {
      Dismiss(held);
    } else {
      next = std::min(next, end);
    }
  }
  if (next == Clock::time_point::max()) return;
  idle_timer_.Start(std::chrono::ceil<std::chrono::milliseconds>(next - Clock::now()));
}

void Launchers::End(const std::string& session_id, loop::Callback done) {
  for (Held& held : launchers_) {
    if (held.key.session_id != session_id) continue;
    Dismiss(held);
    held.launcher->Kill();
  }
  std::erase_if(failed_, [&](const Failed& failed) { return failed.key.session_id == session_id; });
  endings_.Add(session_id, std::move(done));
  AnswerEnds();
}

void Launchers::AnswerEnds() {
  endings_.Answer([this](const std::string& session_id) {
    return std::ranges::any_of(launchers_, [&](const Held& held) { return held.key.session_id == session_id; });
  });
}

Launchers::Held* Launchers::Find(Id id) {
  const auto held = std::ranges::find(launchers_, id, &Held::id);
  return held != launchers_.end() ? &*held : nullptr;
}

std::list<Launchers::Held>::iterator Launchers::Find(const Launcher& launcher) {
  return std::ranges::find_if(launchers_, [&](const Held& held) { return held.launcher.get() == &launcher; });
}

}  // namespace holdfast::sandbox
