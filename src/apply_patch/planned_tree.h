// The directory tree as it will be: the tree on disk, with the changes of the operations that have been planned so far.
// A file is represented once, even if several spellings, links or hard links lead to it.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "apply_patch/plan.h"
#include "base/result.h"

namespace holdfast::apply_patch {

// Removes `.`, `..`, repeated and trailing slashes from a path, by the names alone. A relative path stays relative, and
// may begin with `..`.
std::string NormalPath(std::string_view path);

enum class EntryKind { kMissing, kFile, kDirectory, kLink, kOther };

// The object that a name refers to. `index` is the index of a file or a directory, and `target` the target of a link.
struct Entry {
  EntryKind kind = EntryKind::kMissing;
  size_t index = 0;
  std::string target = {};
};

// The place that a path leads to: a name in a directory. If directories on the way are missing, the spot is the place
// of the first missing one.
struct Spot {
  size_t directory = 0;
  std::string name = {};
  std::string place = {};  // a path to the spot without links
  Entry entry = {};
  std::vector<std::string> missing_parents = {};  // the paths of the missing directories, from the top
};

enum class LastLink { kFollow, kKeep };

class PlannedTree {
 public:
  // Finds the spot of a path, which must be as NormalPath returns it.
  Result<Spot> Find(const std::string& path, LastLink last_link);

  // Makes the missing parents of a path, and returns the spot in the last of them.
  Spot MakeParents(const Spot& spot, const std::string& path);
  size_t MakeFile(const Spot& spot, std::optional<mode_t> permissions);
  void Remove(const Spot& spot);

  PlannedFile& file(size_t index) { return files_[index]; }
  std::vector<PlannedFile> TakeFiles() { return std::move(files_); }

 private:
  struct Directory {
    std::string path;                    // without links
    std::optional<size_t> planned_in{};  // the parent of a directory that will be made; unset for one on disk
  };
  struct Walk;

  Result<size_t> DirectoryOnDisk(const std::string& path);
  size_t DirectoryOf(const struct stat& status, std::string path);
  size_t FileOf(const struct stat& status);
  Result<size_t> ParentOf(size_t directory);
  Result<Entry> Look(size_t directory, const std::string& name);
  Result<> Enter(Walk& walk, const Entry& entry);

  std::vector<Directory> directories_;
  std::vector<PlannedFile> files_;
  std::map<sys::FileIdentity, size_t> directories_on_disk_, files_on_disk_;
  std::map<std::pair<size_t, std::string>, Entry> changes_;
};

}  // namespace holdfast::apply_patch
