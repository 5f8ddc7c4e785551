// Mount points that a plan needs and the user's tree does not have. They exist on the host while a command runs, empty,
// and are gone afterwards. A process of its own makes, holds and removes them, so that they go too when the helper is
// killed, at whatever moment; and not before the command is gone, which would take their place.
//
// Several sandboxes may share one. Who uses it holds a shared lock on it; it is removed under an exclusive one, by
// whoever uses it last. That takes a moment: whoever meets a lock that lasts longer goes on without one, so nobody can
// be held up. Where the last one might not be able to, because it is another user and the directory is not its own
// (/tmp), the process that made it stays until then.
//
// A placeholder is told from an empty directory or file of the user's by its mode, which nobody else would choose.
//
// What it does not do: remove those whose process is killed too. The next sandbox that needs them does.
#pragma once

#include <string>
#include <vector>

#include "base/owned_fd.h"
#include "base/result.h"
#include "sandbox/plan.h"

namespace holdfast::sandbox {

// Whether this is a placeholder, of whichever sandbox: for a plan it is as good as missing.
bool IsPlaceholder(const std::string& path);

class Placeholders {
 public:
  // Makes what is missing, and shares what others have made.
  static Result<Placeholders> Make(const std::vector<Placeholder>& wanted);
  Placeholders(Placeholders&&) noexcept;
  Placeholders& operator=(Placeholders&&) = delete;
  // Removes those that nobody else uses.
  ~Placeholders();

  // Before any is removed this process, by its pidfd, is killed and has ended.
  Result<> KeepUntilEndOf(int pidfd);

 private:
  explicit Placeholders(OwnedFd lifeline);

  // To the process that holds them, which acts when it is closed; closed when there are none. Inherited by whoever
  // makes the mounts, and would make a mount point that is missing: nothing is removed before they are done.
  OwnedFd lifeline_;
};

}  // namespace holdfast::sandbox
