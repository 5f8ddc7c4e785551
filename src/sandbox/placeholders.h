// Mount points that a plan needs and the user's tree does not have. They exist on the host while a command runs, empty,
// and are gone afterwards: removed by whoever uses them last, and by a process of its own when the helper is killed.
//
// Several sandboxes may share one. Who uses it holds a shared lock on it; it is removed under an exclusive one, which
// takes a moment: whoever meets a lock that lasts longer goes on without one, so nobody can be held up.
//
// A placeholder is told from an empty directory or file of the user's by its mode, which nobody else would choose.
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

 private:
  struct Held {
    OwnedFd parent;  // O_PATH
    OwnedFd itself;  // with the lock
    std::string name;
    Placeholder::Kind kind;
  };

  Placeholders() = default;

  Result<> Take(const Placeholder& wanted);
  Result<> StartReaper();
  void Remove();

  std::vector<Held> held_;
  OwnedFd lifeline_;  // the reaper sees its end
};

}  // namespace holdfast::sandbox
