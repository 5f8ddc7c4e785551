// The directory tree as it will be: the disk, and over it what the operations so far have made and removed. One file is
// one file here, by whatever spelling, link or hard link a path leads to it.
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

// `.`, `..`, doubled and trailing slashes are resolved by name; a relative path stays one, and may begin with `..`.
std::string NormalPath(std::string_view path);

enum class EntryKind { kMissing, kFile, kDirectory, kLink, kOther };

// What a name stands for. `index` is that of a file or a directory, `target` that of a link.
struct Entry {
  EntryKind kind = EntryKind::kMissing;
  size_t index = 0;
  std::string target = {};
};

// Where a path leads: a name in a directory. Or, if directories are missing on the way, where the first of them would
// be.
struct Spot {
  size_t directory = 0;
  std::string name = {};
  std::string place = {};  // a path to it without links
  Entry entry = {};
  std::vector<std::string> missing_parents = {};  // their paths, from the top
};

enum class LastLink { kFollow, kKeep };

class PlannedTree {
 public:
  // `path` is normal.
  Result<Spot> Find(const std::string& path, LastLink last_link);

  // Makes the missing parents of a path, and gives the spot in the last of them.
  Spot MakeParents(const Spot& spot, const std::string& path);
  size_t MakeFile(const Spot& spot, std::optional<mode_t> permissions);
  void Remove(const Spot& spot);

  PlannedFile& file(size_t index) { return files_[index]; }
  std::vector<PlannedFile> TakeFiles() { return std::move(files_); }

 private:
  struct Directory {
    std::string path;                    // without links
    std::optional<size_t> planned_in{};  // the directory that it will be made in; none: it is on disk
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
