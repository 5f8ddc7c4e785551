// Launchers owns the launchers of all sessions. A launcher starts commands of one session under one plan, and is kept
// for a while for the next one. Two sessions never share a launcher, and the launchers of a session die with it.
//
// A jail is found by the digest of its plan. When a mount of the machine has changed it is let go, and the next command
// gets another.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "loop/endings.h"
#include "loop/event_loop.h"
#include "process/launched_sandbox.h"
#include "process/spawner.h"
#include "sandbox/helper_command/sandbox_program.h"
#include "sandbox/launchers/launcher.h"
#include "sandbox/launchers/planned_entry.h"
#include "sandbox/policy/sandbox_spec.h"
#include "sys/mount_changes.h"

namespace holdfast::sandbox {

class Launchers final : private Launcher::Owner {
 public:
  struct Limits {
    size_t launchers = 64;                        // of all sessions; 0: launchers are not used
    std::chrono::milliseconds idle_time{10'000};  // a launcher that is not used for this time ends
    std::chrono::milliseconds memory{60'000};     // a failed launcher is not tried again for this time
  };
  // Called when a launcher could not be made or has failed. Its commands are started without it.
  using OnFailure = std::function<void(const std::string& session_id, const Error& why)>;

  Launchers(loop::EventLoop& loop, process::Spawner& spawner, const SandboxProgram& program, Limits limits,
            OnFailure on_failure);

  using Id = uint64_t;

  // Returns whether jails can start commands under this sandbox. Landlock alone needs no namespaces.
  bool Serve(const SandboxSpec& sandbox) const;

  // Sends an entry to the jail of the session with this plan, which is started if there is none. Returns nothing if
  // there is no jail to be had: then the command has to be started without one.
  std::optional<Id> Send(const std::string& session_id, const JailWanted& jail, std::span<const int> fds);

  // These functions say what has become of an entry: its command was started, or not.
  void OnLaunched(Id id);
  void OnNotLaunched(Id id);

  // Kills the launchers of a session with all their commands. `done` runs when no process of them is alive. Until then
  // the session gets no further launcher.
  void End(const std::string& session_id, loop::Callback done);

  size_t alive() const { return launchers_.size(); }

 private:
  using Clock = std::chrono::steady_clock;
  struct Key {
    std::string session_id;
    PlanDigest digest;

    friend bool operator==(const Key&, const Key&) = default;
  };
  struct Owned {
    Id id;
    Key key;
    uint64_t mounts;  // MountChanges::Count when it was started
    std::unique_ptr<Launcher> launcher;
    Clock::time_point last_use;
    bool proven = false;     // it has started a command
    bool dismissed = false;  // it was let go, so its end is no failure
  };
  struct Failed {
    Key key;
    Clock::time_point until;
  };

  void OnLauncherEnded(Launcher& launcher, Launcher::End end, const Error& why) override;
  void OnLauncherGone(Launcher& launcher) override;

  Owned* FindFresh(const Key& key);
  Owned* StartOne(const Key& key, const JailWanted& jail);
  Result<std::unique_ptr<Launcher>> StartLauncher(const JailWanted& jail);
  bool MakeRoom();
  Owned* Find(Id id);
  std::list<Owned>::iterator Find(const Launcher& launcher);
  bool MayStart(const Key& key);
  void Remember(const Key& key);
  static void Dismiss(Owned& owned);
  void DismissIdle();
  void AnswerEnds();

  loop::EventLoop& loop_;
  process::Spawner& spawner_;
  const SandboxProgram& program_;
  const Limits limits_;
  const OnFailure on_failure_;
  sys::MountChanges mount_changes_;
  std::list<Owned> launchers_;
  std::vector<Failed> failed_;
  loop::Endings endings_;  // of sessions
  loop::Timer idle_timer_;
  Id next_id_ = 1;
};

}  // namespace holdfast::sandbox
