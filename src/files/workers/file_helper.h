// One file helper process: the sandbox program with files/helper/helper_main.h as its command.
#pragma once

#include <memory>

#include "base/result.h"
#include "files/workers/helper_link.h"
#include "loop/event_loop.h"
#include "process/command/command.h"
#include "process/keeper.h"
#include "process/spawner.h"
#include "process/start_report_watch.h"

namespace holdfast::files {

class FileHelper final : private process::KeeperObserver {
 public:
  class Owner {
   public:
    virtual ~Owner() = default;
    // Whether it can be used; once.
    virtual void OnHelperReady(FileHelper& helper, const Result<>& ready) = 0;
    // Nothing of it is alive; the last call. The helper is destroyed later, from the loop.
    virtual void OnHelperGone(FileHelper& helper) = 0;
  };

  static Result<std::unique_ptr<FileHelper>> Start(loop::EventLoop& loop, process::Spawner& spawner,
                                                   const process::Command& command, Owner& owner);

  // Shared with the worker that uses it.
  const std::shared_ptr<HelperLink>& link() const { return link_; }

  void Kill() { keeper_->KillAll(); }

 private:
  FileHelper(loop::EventLoop& loop, const process::Command& command, OwnedFd socket, Owner& owner);

  void OnStarted(pid_t pid) override;
  void OnStartFailed(process::StartStep step, int errno_value) override;
  void OnExited(int exit_code) override;
  void OnGone() override;
  void OnReport(const Result<>& verdict);
  void TellReady(const Result<>& ready);

  Owner& owner_;
  std::shared_ptr<HelperLink> link_;
  process::StartReportWatch report_;
  std::unique_ptr<process::Keeper> keeper_;
  bool told_ = false;
};

}  // namespace holdfast::files
