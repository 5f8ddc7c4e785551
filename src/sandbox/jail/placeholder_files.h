// The files of placeholders (placeholders.h): how they are made, marked as used, and removed by their last user.
//
// Several sandboxes may share a placeholder. Each user holds an OFD read lock on one byte (the mark), which never
// conflicts, and a shared flock. The last user takes the flock exclusively and removes the file. Any process that can
// open the file can take the flock, also from inside of another sandbox. So a user that fails to get it relies on its
// mark, which means that no process can hold it up, and a remover that finds a mark leaves the file alone. One process
// waits for each placeholder that could not be removed.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/owned_fd.h"
#include "base/result.h"
#include "sandbox/plan/plan.h"
#include "sandbox/resolve/protected_names.h"

namespace holdfast::sandbox {

// A placeholder that a sandbox uses, and has marked so.
struct UsedPlaceholder {
  uint32_t index;  // in the list of wanted placeholders
  std::string name;
  PlaceholderKind kind;
  bool is_made = false;  // this sandbox has made it, not another one
  OwnedFd parent = {};   // opened with O_PATH
  OwnedFd itself = {};   // holds the locks
};
using UsedPlaceholders = std::vector<UsedPlaceholder>;

// PlaceholderRetries limits how long a sandbox waits, for all its placeholders together, while other processes make,
// lock and remove the same ones.
class PlaceholderRetries {
 public:
  // Waits a millisecond, or returns false at once if there were too many waits.
  bool Wait();

 private:
  int left_ = 100;
};

// Makes a placeholder, or shares that of another sandbox, and adds it to `all`. Adds nothing if there is a file of the
// user at the path.
Result<> AcquirePlaceholder(const Placeholder& wanted, uint32_t index, UsedPlaceholders& all,
                            PlaceholderRetries& retries);

// Returns a placeholder whose locks the descriptor `itself` holds. If that is closed, the placeholder is found by its
// name. Absent if there is none.
std::optional<UsedPlaceholder> FindPlaceholder(const Placeholder& wanted, uint32_t index, OwnedFd itself, bool is_made);

// Removes the placeholders that no other sandbox uses, and keeps in `all` those that this process has to wait for.
// Other users of a placeholder remove it themselves, unless one of them has no right to; then the sandbox that made it
// waits. A process that has only locked a placeholder does not remove it; of all sandboxes that this lock stops, one
// waits. Returns the placeholders that this process has nothing to do with any more: closing the last descriptor of one
// that was removed may take milliseconds, because some file systems tell the disk at once that its blocks are free.
UsedPlaceholders RemoveUnused(UsedPlaceholders& all);

// Removes what can be removed, and tries for a short time, because other helpers that were killed together with this
// one may be about to end.
void RemoveSoon(UsedPlaceholders& all);

// Waits until no other process uses the placeholders, and removes them.
void AwaitOthers(UsedPlaceholders& all);

}  // namespace holdfast::sandbox
