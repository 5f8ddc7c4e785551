// FileHelpers owns the file helpers of all sessions. A file helper serves one request at a time, for one session under
// one policy, and is kept for a while for the next request. Two sessions never share a file helper, and the file
// helpers of a session die with it.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <string>
#include <utility>

#include "base/result.h"
#include "files/workers/file_helper.h"
#include "loop/endings.h"
#include "loop/event_loop.h"
#include "loop/permit.h"
#include "loop/queue.h"
#include "loop/task.h"
#include "sandbox/launchers/sandboxed_start.h"
#include "sandbox/policy/sandbox_spec.h"

namespace holdfast::files {

class FileHelpers final : private FileHelper::Owner {
 public:
  struct Limits {
    size_t helpers = 64;                       // of all sessions; at the limit an idle one is ended, or requests wait
    size_t per_policy = 4;                     // for one session
    std::chrono::milliseconds patience{50};    // the wait of a request before another file helper is started for it
    std::chrono::milliseconds idle_time{500};  // an idle file helper ends after this time
  };

  explicit FileHelpers(const sandbox::SandboxedStart::Resources& resources) : FileHelpers(resources, Limits()) {}
  FileHelpers(const sandbox::SandboxedStart::Resources& resources, Limits limits);

  // A lease is the permit to use a file helper. Any thread may end it.
  class Lease {
   public:
    HelperLink* operator->() const { return link_.get(); }

   private:
    friend FileHelpers;
    Lease(loop::Permit permit, std::shared_ptr<HelperLink> link) : permit_(std::move(permit)), link_(std::move(link)) {}

    loop::Permit permit_;
    std::shared_ptr<HelperLink> link_;
  };

  // Waits for a file helper of this session and policy. Fails if none can be started, or if the session ends first.
  loop::Task<Result<Lease>> Acquire(std::string session_id, sandbox::SandboxSpec sandbox);

  // Kills the file helpers of a session. `done` runs when no process of them is alive. Until then the session gets no
  // further file helper, so that a client cannot delay the end by its requests.
  void End(const std::string& session_id, loop::Callback done);

  size_t alive() const { return helpers_.size(); }

 private:
  enum class State { kStarting, kIdle, kLeased, kEnding };
  struct Key {
    std::string session_id;
    sandbox::SandboxSpec sandbox;

    friend bool operator==(const Key&, const Key&) = default;
  };
  struct Owned {
    uint64_t id;
    Key key;
    std::unique_ptr<FileHelper> helper;
    State state = State::kStarting;
    std::chrono::steady_clock::time_point idle_since = {};
  };
  struct Waiting {
    Key key;
    std::chrono::steady_clock::time_point since;
  };
  using OwnedIterator = std::list<Owned>::iterator;

  void OnHelperReady(FileHelper& helper, const Result<>& ready) override;
  void OnHelperGone(FileHelper& helper) override;

  void Serve();
  Owned* FindIdle(const Key& key);
  void StartHelpers();
  bool WantsHelper(const Key& key, std::chrono::steady_clock::time_point since) const;
  bool MakeRoom();
  Result<> StartHelper(const Key& key);
  void FailWaiting(const Key& key, const Error& error);
  Lease LeaseOf(Owned& owned);
  void Release(uint64_t id);
  void SetIdle(Owned& owned);
  void EndIdle();
  void Kill(Owned& owned);
  void AnswerEnds();
  OwnedIterator Find(const FileHelper* helper);
  size_t Count(State state) const;

  const sandbox::SandboxedStart::Resources resources_;
  const Limits limits_;
  std::list<Owned> helpers_;
  loop::Queue<Waiting, Result<Lease>> waiting_;
  loop::Endings endings_;  // of sessions
  loop::Timer idle_timer_, patience_timer_;
  uint64_t next_id_ = 1;
  loop::Permits leases_;
};

}  // namespace holdfast::files
