// What a command may do, as a value: where it may read and write, and whether it has a network. A policy speaks of
// places ("the project", "the temporary directory") and patterns; resolution.h turns them into paths.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace holdfast::sandbox {

enum class Access { kRead, kWrite, kDeny };

enum class PlaceKind {
  kRoot,          // everything
  kMinimal,       // what programs need to run: /usr, /etc and the like
  kProjectRoots,  // the workspace, or a path below each of its roots
  kTmpDir,        // $TMPDIR
  kSlashTmp,      // /tmp
  kUnknown,       // a place of a later version: nowhere
};

struct Place {
  PlaceKind kind = PlaceKind::kRoot;
  std::string subpath = {};  // of kProjectRoots, relative

  friend bool operator==(const Place&, const Place&) = default;
};

// `*`, `?`, `[...]` within a name, `**` across names. Relative ones are below each project root.
struct Pattern {
  std::string text;

  friend bool operator==(const Pattern&, const Pattern&) = default;
};

struct AbsolutePath {
  std::string text;

  friend bool operator==(const AbsolutePath&, const AbsolutePath&) = default;
};

// What a rule about a path that does not exist means: that it must not come to exist, or nothing.
enum class IfMissing { kProtect, kSkip };

struct Entry {
  std::variant<AbsolutePath, Place, Pattern> where;
  Access access = Access::kRead;
  IfMissing if_missing = IfMissing::kProtect;

  friend bool operator==(const Entry&, const Entry&) = default;
};

enum class Network { kRestricted, kEnabled };

struct Policy {
  // Absent: the whole file system, as the user has it.
  struct Files {
    std::vector<Entry> entries;
    std::optional<size_t> glob_scan_max_depth;  // at least 1

    friend bool operator==(const Files&, const Files&) = default;
  };
  std::optional<Files> files;
  Network network = Network::kRestricted;

  friend bool operator==(const Policy&, const Policy&) = default;
};

}  // namespace holdfast::sandbox
