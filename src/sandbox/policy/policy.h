// A policy states what a command may do: where it may read and write, and whether it has a network. It is a plain
// value. Its entries name paths, places ("the project", "the temporary directory") and patterns; resolution.h turns
// places and patterns into paths.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace holdfast::sandbox {

enum class Access { kRead, kWrite, kDeny };

enum class PlaceKind {
  kRoot,          // the whole file system
  kMinimal,       // the directories that programs need to run: /usr, /etc and the like
  kProjectRoots,  // the workspace, or a path below each of its roots
  kTmpDir,        // $TMPDIR
  kSlashTmp,      // /tmp
  kUnknown,       // a place that only a later version knows; it stands for no path
};

struct Place {
  PlaceKind kind = PlaceKind::kRoot;
  std::string subpath = {};  // only for kProjectRoots: a path relative to each root

  friend bool operator==(const Place&, const Place&) = default;
};

// A pattern for paths: `*`, `?` and `[...]` match within one name, `**` matches any number of directories. A relative
// pattern applies below each project root.
struct Pattern {
  std::string text;

  friend bool operator==(const Pattern&, const Pattern&) = default;
};

struct AbsolutePath {
  std::string text;

  friend bool operator==(const AbsolutePath&, const AbsolutePath&) = default;
};

// The meaning of an entry whose path does not exist. With kProtect the command must not create the path, unless
// the entry lets it write there; with kSkip the entry is ignored.
enum class IfMissing { kProtect, kSkip };

struct Entry {
  std::variant<AbsolutePath, Place, Pattern> where;
  Access access = Access::kRead;
  IfMissing if_missing = IfMissing::kProtect;

  friend bool operator==(const Entry&, const Entry&) = default;
};

enum class Network { kRestricted, kEnabled };

struct Policy {
  struct Files {
    std::vector<Entry> entries;
    std::optional<size_t> glob_scan_max_depth;  // at least 1

    friend bool operator==(const Files&, const Files&) = default;
  };
  std::optional<Files> files;  // absent: the command may use the whole file system as its user may
  Network network = Network::kRestricted;

  friend bool operator==(const Policy&, const Policy&) = default;
};

}  // namespace holdfast::sandbox
