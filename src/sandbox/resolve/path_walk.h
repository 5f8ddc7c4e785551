// A walk follows a path name by name, as it is at this moment: it finds the links that the path crosses, and where the
// path ends. The tree may change afterwards.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/paths.h"
#include "base/result.h"

namespace holdfast::sandbox {

struct CrossedLink {
  std::string path;    // the path of the link, without links on the way to it
  std::string target;  // the text of the link
};

struct PathWalk {
  enum class End {
    kDirectory,
    kFile,          // of any kind but a directory
    kMissing,       // `reached` is the first component that does not exist
    kUnderFile,     // `reached` is a file, and the path continues below it
    kUnsearchable,  // `reached` is in a directory that this process may not search
    kNowhere,       // the path has a loop of links, a name that no file can have, or a link in /proc
    kFailed,        // the kernel could not look at `reached`; only of Follow
  };
  std::string path;     // where the path leads; the part of it that exists has no links
  std::string reached;  // the part that was looked at; the whole path when it exists
  End end = End::kDirectory;
  std::vector<CrossedLink> links;
  std::vector<std::string> left;  // the directories that the text of a link leaves by `..`

  bool exists() const { return end == End::kDirectory || end == End::kFile; }
};

// A walker looks at each file only once, however many paths lead through it. It treats the placeholder of another
// sandbox as missing: when that sandbox ends, the placeholder is removed, and a mount on it would disappear with it.
class PathWalker {
 public:
  // Walks an absolute path. Links in /proc are not followed, because they lead each process somewhere else. Fails if
  // the kernel cannot look at a file on the way.
  Result<PathWalk> Walk(std::string_view path);

  // Does the same, but a walk that cannot go on ends there with kFailed.
  PathWalk Follow(std::string_view path);

 private:
  struct Sight {
    enum class Kind { kDirectory, kFile, kLink, kMissing, kUnsearchable, kImpossible, kFailed };
    Kind kind;
    std::string link_text = {};
    Error failure = {};  // of kFailed
  };

  static std::optional<PathWalk::End> EndAt(const Sight& sight, const std::vector<std::string>& pending);
  static Sight Look(const std::string& path);
  const Sight& LookAt(const std::string& path);

  std::unordered_map<std::string, Sight> seen_;
};

}  // namespace holdfast::sandbox
