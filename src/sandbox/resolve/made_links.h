// MadeLinks tells which links a sandboxed command could have made. A writable root, or the directory for temporary
// files, must not be reached through such a link: one command would choose what the next one may write.
//
// What it does not know: links that a command has made in the root of a helper that was started by hand, or of another
// server.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "sandbox/resolve/path_walk.h"

namespace holdfast::sandbox {

class MadeLinks {
 public:
  // No link is suspected.
  MadeLinks() = default;

  // Suspects links in the directories that nearly every policy opens, which are /tmp, /var/tmp and `tmpdir`, whichever
  // user has made them; and links in the roots that a server has given out, whose list is the descriptor `given`
  // (given_roots.h). Without the list only the former are known.
  static MadeLinks In(const std::string& tmpdir, std::optional<int> given);

  // Suspects every link that a command of this user could have made if the directory had been its root. Links directly
  // in / and /var are accepted, because they are the administrator's.
  static MadeLinks Anywhere();

  // Returns whether the link is suspected. It must have been found before this call, so that the list has the root of
  // every command that could have made it.
  Result<bool> Suspect(const CrossedLink& link) const;

 private:
  enum class Where { kNowhere, kInRoots, kAnywhere };

  Where where_ = Where::kNowhere;
  std::vector<std::string> open_;  // directories that nearly every policy opens, without links
  std::optional<int> given_;
};

}  // namespace holdfast::sandbox
