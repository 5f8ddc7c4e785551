// Mount points that a plan needs and the user's tree does not have. They exist on the host while a command runs, empty,
// and are gone afterwards. When the helper is killed, at whatever moment, a process of its own removes them; and not
// before the command is gone, which would take their place.
//
// Several sandboxes may share one. Who uses it has a mark on it, a record lock of a kind that nobody can refuse; and a
// shared lock, while it is removed under an exclusive one, by whoever uses it last. Whoever can open it can lock it
// too, also from inside of another sandbox. Who meets a lock that lasts goes on with the mark alone, so nobody can be
// held up, and who has the exclusive lock and finds a mark removes nothing. What could not be removed one process waits
// for.
//
// What it does not do: remove those whose process is killed too. The next sandbox that needs them does.
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
  uint32_t index;  // among those wanted
  std::string name;
  PlaceholderKind kind;
  bool is_made = false;  // here, not by another sandbox
  OwnedFd parent = {};   // O_PATH
  OwnedFd itself = {};   // with the lock
};

class Placeholders {
 public:
  // Makes none yet. Who is to make the mounts is started after this, and inherits what keeps them.
  static Result<Placeholders> Prepare(std::vector<Placeholder> wanted);
  Placeholders(Placeholders&&) noexcept;
  Placeholders& operator=(Placeholders&&) = delete;
  // Removes those that nobody else uses.
  ~Placeholders();

  // Makes what is missing, and shares what others have made.
  Result<> Make();

  // For when this process is killed: that one, by its pidfd, is killed too, and has ended before any is removed.
  Result<> KeepUntilEndOf(int pidfd);

 private:
  explicit Placeholders(std::vector<Placeholder> wanted) : wanted_(std::move(wanted)) {}

  Result<> StartReaper();
  Result<> Pass(const HeldPlaceholder& held) const;

  std::vector<Placeholder> wanted_;
  std::vector<HeldPlaceholder> held_;
  // The reaper acts at its end; closed when there is none. Inherited by whoever makes the mounts, and would make a
  // mount point that is missing: nothing is removed before they are done.
  OwnedFd lifeline_, end_for_reaper_;
};

}  // namespace holdfast::sandbox
