// A FileHelper is one file helper process: the file operations of files/helper/helper_main.h, in a sandbox, in the
// place of a command.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "base/result.h"
#include "files/workers/helper_link.h"
#include "process/command_watch.h"
#include "sandbox/launchers/sandboxed_start.h"
#include "sandbox/policy/sandbox_spec.h"

namespace holdfast::files {

class FileHelper final : private process::CommandObserver {
 public:
  class Owner {
   public:
    virtual ~Owner() = default;
    // Called once, when the file helper can be used or has failed to start.
    virtual void OnHelperReady(FileHelper& helper, const Result<>& ready) = 0;
    // The last call, when no process of the file helper is alive. The owner destroys the object later, from the loop.
    virtual void OnHelperGone(FileHelper& helper) = 0;
  };

  static Result<std::unique_ptr<FileHelper>> Start(const sandbox::SandboxedStart::Resources& resources,
                                                   const std::string& session_id, const sandbox::SandboxSpec& sandbox,
                                                   Owner& owner);

  // The link is shared with the worker that uses it.
  const std::shared_ptr<HelperLink>& link() const { return link_; }

  void Kill() { watch_->KillAll(); }

 private:
  FileHelper(OwnedFd socket, Owner& owner) : owner_(owner), link_(std::make_shared<HelperLink>(std::move(socket))) {}

  void OnStarted(pid_t) override {}
  void OnStartFailed(process::StartStep step, int errno_value) override;
  void OnReport(const Result<process::Enforcement>& started) override;
  void OnExited(int wait_status) override;
  void OnGone() override;
  void TellReady(const Result<>& ready);

  Owner& owner_;
  std::shared_ptr<HelperLink> link_;
  std::unique_ptr<process::CommandWatch> watch_;
  bool told_ = false;
};

}  // namespace holdfast::files
