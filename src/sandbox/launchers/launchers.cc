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
  return limits_.launchers > 0 && (sandbox.profile.type != ProfileType::kDisabled || sandbox.proxies) &&
         !sandbox.legacy_landlock;
}

std::optional<Launchers::Id> Launchers::Send(const std::string& session_id, const JailWanted& jail,
                                             std::span<const int> fds) {
  const Key key{session_id, jail.digest};
  Owned* owned = FindFresh(key);
  if (owned == nullptr) owned = StartOne(key, jail);
  if (owned == nullptr || !owned->launcher->Send(fds)) return std::nullopt;
  owned->last_use = Clock::now();
  if (!idle_timer_.running()) idle_timer_.Start(limits_.idle_time);
  return owned->id;
}

// Returns the launcher with this key, and lets it go if a mount has changed since its start.
Launchers::Owned* Launchers::FindFresh(const Key& key) {
  const uint64_t mounts = mount_changes_.Count();
  for (Owned& owned : launchers_) {
    if (owned.launcher->is_let_go() || owned.key != key) continue;
    if (owned.mounts == mounts) return &owned;
    Dismiss(owned);
  }
  return nullptr;
}

// The mounts are counted before the launcher copies them.
Launchers::Owned* Launchers::StartOne(const Key& key, const JailWanted& jail) {
  if (!MayStart(key) || !MakeRoom()) return nullptr;
  const uint64_t mounts = mount_changes_.Count();
  auto launcher = StartLauncher(jail);
  if (!launcher) {
    Remember(key);
    on_failure_(key.session_id, launcher.error());
    return nullptr;
  }
  return &launchers_.emplace_back(Owned{
      .id = next_id_++, .key = key, .mounts = mounts, .launcher = *std::move(launcher), .last_use = Clock::now()});
}

Result<std::unique_ptr<Launcher>> Launchers::StartLauncher(const JailWanted& jail) {
  TRY(sys::SocketPair socket, sys::MakeSocketPair(sys::SocketKind::kPacket));
  TRY_VOID(sys::SetBlocking(socket.ours.get(), sys::Blocking::kNo));
  TRY(const process::Command command,
      program_.Jail(jail.plan, std::make_shared<const OwnedFd>(std::move(socket.theirs)), jail.port_ruleset));
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
  Owned* oldest = nullptr;
  size_t count = 0;
  for (Owned& owned : launchers_) {
    if (owned.launcher->is_let_go()) continue;
    ++count;
    if (oldest == nullptr || owned.last_use < oldest->last_use) oldest = &owned;
  }
  if (count >= limits_.launchers && oldest != nullptr) Dismiss(*oldest);
  return limits_.launchers > 0;
}

void Launchers::OnLaunched(Id id) {
  if (Owned* const owned = Find(id)) owned->proven = true;
}

// An entry that is lost is no proof against the launcher, which may have been killed; that is known when it has ended.
void Launchers::OnNotLaunched(Id id) {
  if (Owned* const owned = Find(id)) owned->launcher->LetGo();
}

void Launchers::OnLauncherEnded(Launcher& launcher, Launcher::End end, const Error& why) {
  const auto owned = Find(launcher);
  launcher.LetGo();
  if (owned->dismissed || end == Launcher::End::kKilled) return;
  if (!owned->proven) Remember(owned->key);
  on_failure_(owned->key.session_id, why);
}

void Launchers::Dismiss(Owned& owned) {
  owned.dismissed = true;
  owned.launcher->LetGo();
}

void Launchers::OnLauncherGone(Launcher& launcher) {
  const auto owned = Find(launcher);
  loop_.Post([keep_alive_until_unwound = std::move(owned->launcher)] {});
  launchers_.erase(owned);
  AnswerEnds();
}

void Launchers::DismissIdle() {
  auto next = Clock::time_point::max();
  for (Owned& owned : launchers_) {
    if (owned.launcher->is_let_go()) continue;
    const auto end = owned.last_use + limits_.idle_time;
    if (end <= Clock::now()) {
      Dismiss(owned);
    } else {
      next = std::min(next, end);
    }
  }
  if (next == Clock::time_point::max()) return;
  idle_timer_.Start(std::chrono::ceil<std::chrono::milliseconds>(next - Clock::now()));
}

void Launchers::End(const std::string& session_id, loop::Callback done) {
  for (Owned& owned : launchers_) {
    if (owned.key.session_id != session_id) continue;
    Dismiss(owned);
    owned.launcher->Kill();
  }
  std::erase_if(failed_, [&](const Failed& failed) { return failed.key.session_id == session_id; });
  endings_.Add(session_id, std::move(done));
  AnswerEnds();
}

void Launchers::AnswerEnds() {
  endings_.Answer([this](const std::string& session_id) {
    return std::ranges::any_of(launchers_, [&](const Owned& owned) { return owned.key.session_id == session_id; });
  });
}

Launchers::Owned* Launchers::Find(Id id) {
  const auto owned = std::ranges::find(launchers_, id, &Owned::id);
  return owned != launchers_.end() ? &*owned : nullptr;
}

std::list<Launchers::Owned>::iterator Launchers::Find(const Launcher& launcher) {
  return std::ranges::find_if(launchers_, [&](const Owned& owned) { return owned.launcher.get() == &launcher; });
}

}  // namespace holdfast::sandbox
