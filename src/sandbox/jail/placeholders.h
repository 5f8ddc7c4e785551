// Placeholders are mount points that a plan needs and the user's tree does not have. They exist on the host, empty,
// while a command runs, and are removed afterwards. When the helper is killed, at whatever moment, a process of its
// own, the reaper, removes them. It does so only when the command is gone, because the command could otherwise put
// files in their place.
//
// Several sandboxes may share a placeholder. Each user holds an OFD read lock on one byte (the mark), which never
// conflicts, and a shared flock. The last user takes the flock exclusively and removes the file. Any process that can
// open the file can take the flock, also from inside of another sandbox. So a user that fails to get it relies on its
// mark, which means that no process can hold it up, and a remover that finds a mark leaves the file alone. One process
// waits for each placeholder that could not be removed.
//
// What it does not stop: placeholders stay behind when the reaper is killed too. The next sandbox that needs them
// removes them.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/owned_fd.h"
#include "base/result.h"
#include "sandbox/plan/plan.h"
#include "sandbox/resolve/protected_names.h"

namespace holdfast::sandbox {

struct HeldPlaceholder {
  uint32_t index;  // in the list of wanted placeholders
  std::string name;
  PlaceholderKind kind;
  bool is_made = false;  // this sandbox has made it, not another one
  OwnedFd parent = {};   // opened with O_PATH
  OwnedFd itself = {};   // holds the locks
};

class Placeholders {
 public:
  // Prepares the placeholders, but makes none yet. bubblewrap has to be started after this, because it inherits the
  // socket that keeps the reaper from removing them.
  static Result<Placeholders> Prepare(std::vector<Placeholder> wanted);
  Placeholders(Placeholders&&) noexcept;
  Placeholders& operator=(Placeholders&&) = delete;
  // Removes the placeholders that no other sandbox uses.
  ~Placeholders();

  // Makes the missing placeholders, and shares those that other sandboxes have made.
  Result<> Make();

  // Starts the reaper before pid 1 exists. From then on the reaper removes the placeholders, and the destructor of this
  // object waits until it has removed those that no other sandbox uses.
  Result<> LeaveToReaper();

  // Does what Make does, in pid 1 after LeaveToReaper: no placeholder is removed before pid 1 has ended.
  Result<> MakeAsFirstProcess();

  const std::vector<HeldPlaceholder>& held() const { return held_; }

  // Names, by its pidfd, a process that the reaper kills when this process is killed. No placeholder is removed before
  // that process has ended.
  Result<> KeepUntilEndOf(int pidfd);

 private:
  explicit Placeholders(std::vector<Placeholder> wanted) : wanted_(std::move(wanted)) {}

  Result<> StartReaper();
  Result<> TellReaper(const HeldPlaceholder& held) const;

  std::vector<Placeholder> wanted_;
  std::vector<HeldPlaceholder> held_;
  bool left_to_reaper_ = false;
  // The socket to the reaper, which begins its work when all copies of it are closed; closed when there is no reaper.
  // bubblewrap inherits a copy, because it would make a mount point that has been removed: the reaper removes nothing
  // before bubblewrap is done.
  OwnedFd reaper_socket_, reaper_end_;
};

}  // namespace holdfast::sandbox
