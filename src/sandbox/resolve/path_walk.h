// The way to a path as it is at this moment: which links it crosses, and where it ends. The tree may change afterwards.
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
  std::string path;    // no link on the way to it
  std::string target;  // its text
};

struct PathWalk {
  enum class End {
    kDirectory,
    kFile,          // of any kind but a directory
    kMissing,       // `reached` is the first component that is not there
    kUnderFile,     // `reached` is a file, and the path goes on
    kUnsearchable,  // `reached` is in a directory that may not be searched
    kNowhere,       // a loop of links, a name that no file can have, a link of /proc
  };
  std::string path;     // where it leads: no link in the part that is there
  std::string reached;  // the part that was looked at; all of it when it is there
  End end = End::kDirectory;
  std::vector<CrossedLink> links;

  bool exists() const { return end == End::kDirectory || end == End::kFile; }
};

// Looks at each place once, however many paths lead there. The placeholder of another sandbox is as good as missing: it
// goes when that sandbox ends, and would take a mount on it away.
class PathWalker {
 public:
  // `path` is absolute. Links of /proc are not followed: they lead each process somewhere else.
  Result<PathWalk> Walk(std::string_view path);

 private:
  struct Sight {
    enum class Kind { kDirectory, kFile, kLink, kMissing, kUnsearchable, kImpossible };
    Kind kind;
    std::string link_text;
  };

  static std::optional<PathWalk::End> EndAt(const Sight& sight, const std::vector<std::string>& pending);
  Result<const Sight*> LookAt(const std::string& path);

  std::unordered_map<std::string, Sight> seen_;
};

}  // namespace holdfast::sandbox
