// Placeholders are mount points that a plan needs and the user's tree does not have. They exist on the host, empty,
// while a command runs, and are removed afterwards. When the helper is killed, at whatever moment, a process of its
// own, the reaper (placeholder_reaper.h), removes them.
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "base/owned_fd.h"
#include "base/result.h"
#include "sandbox/jail/placeholder_files.h"
#include "sandbox/jail/placeholder_reaper.h"
#include "sandbox/plan/plan.h"

namespace holdfast::sandbox {

class Placeholders {
 public:
  // Prepares the placeholders, but makes none yet. bubblewrap has to be started after this, because it inherits the
  // socket that keeps the reaper from removing them.
  static Result<Placeholders> Prepare(std::vector<Placeholder> wanted);
  Placeholders(Placeholders&&) noexcept;
  Placeholders& operator=(Placeholders&&) = delete;
  // Removes the placeholders that no other sandbox uses, or waits until the reaper has done so.
  ~Placeholders();

  // Makes the missing placeholders, and shares those that other sandboxes have made.
  Result<> Make();

  // Starts the reaper before pid 1 exists, and leaves the removal to it, because pid 1 makes the placeholders and this
  // process will not know them.
  Result<> LeaveToReaper();
  int reaper() const { return reaper_.get(); }  // the socket to it, for MakeAsFirstProcess; -1 if none is needed

  // Names, by its pidfd, a process that the reaper kills when this process is killed. No placeholder is removed before
  // that process has ended.
  Result<> KeepUntilEndOf(int pidfd);

 private:
  explicit Placeholders(std::vector<Placeholder> wanted) : wanted_(std::move(wanted)) {}

  Result<> StartOwnReaper();

  std::vector<Placeholder> wanted_;
  UsedPlaceholders used_;
  bool left_to_reaper_ = false;
  // The socket to the reaper, which begins its work when all copies of it are closed; closed when there is no reaper.
  // bubblewrap inherits a copy, because it would make a mount point that has been removed: the reaper removes nothing
  // before bubblewrap is done.
  OwnedFd reaper_, reaper_end_;
};

// Makes the placeholders in pid 1. The reaper removes none of them before pid 1 has ended, or before the reaper was
// told that pid 1 is alone.
Result<UsedPlaceholders> MakeAsFirstProcess(const std::vector<Placeholder>& wanted, const ReapedCommand& command);

}  // namespace holdfast::sandbox
