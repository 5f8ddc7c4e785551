// PathWalk is the lookup of one path, one name after the other, as the kernel makes it for a process with another root
// directory. Its driver sees each place on the way, and says where the links of /proc lead: seen from this process,
// they lead elsewhere.
#pragma once

#include <string>
#include <utility>

#include "base/owned_fd.h"
#include "escalate/caller/or_errno.h"

namespace holdfast::escalate {

class PathWalk {
 public:
  enum class Step {
    kDown,         // the walk has entered a directory, or arrived at a file
    kUp,           // the walk has gone to the directory above
    kLink,         // the walk goes on with the target of a symbolic link
    kProcessLink,  // the name is a link of /proc; the driver calls Jump
    kEnd,          // nothing is left of the path
  };

  // A path that does not begin with a slash begins at `start`. `root` outlives the walk.
  PathWalk(int root, std::string path, OwnedFd start = {});

  // Goes on by one name. Fails as a lookup of the kernel does.
  OrErrno<Step> Go();

  // The place that the walk has reached.
  int here() const { return here_.get(); }

  // The link of /proc at which the walk waits.
  const std::string& name() const { return name_; }
  void Jump(OwnedFd place) { here_ = std::move(place); }

  // Returns the place of a walk that is at its end.
  OwnedFd TakePlace() && { return std::move(here_); }

 private:
  std::string TakeName();
  OrErrno<Step> GoUp();
  OrErrno<Step> Follow(int link);

  const int root_;
  OwnedFd here_;
  std::string rest_, name_;
  int links_ = 0;
};

}  // namespace holdfast::escalate
