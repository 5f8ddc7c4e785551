// Functions that make directories and list them.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/owned_fd.h"
#include "base/result.h"
#include "files/disk/guarded_names.h"
#include "files/disk/metadata.h"

namespace holdfast::files {

// Reads the names in an open directory, in the order in which the kernel returns them, without "." and "..". A name
// that is made or removed meanwhile may be returned or not; each other name is returned once.
struct RawEntry {
  std::string_view name;  // raw bytes, followed by a NUL; valid until the next call of Next()
  unsigned char type;     // DT_*; DT_UNKNOWN if the file system does not say
};

class DirectoryReader {
 public:
  // `directory` must be open for reading, not O_PATH. `path` is used in messages.
  explicit DirectoryReader(OwnedFd directory, std::string path = "")
      : directory_(std::move(directory)), path_(std::move(path)) {}

  // Returns the next name, or nothing at the end.
  Result<std::optional<RawEntry>> Next();

  int fd() const { return directory_.get(); }

 private:
  Result<> Fill();

  OwnedFd directory_;
  std::string path_;
  std::unique_ptr<std::byte[]> buffer_;  // made by the first Next()
  size_t filled_ = 0, taken_ = 0;
};

enum class Parents { kMustExist, kCreate };

// Makes a directory. With kCreate it is not an error if the directory exists already. If the placeholder of a sandbox
// (sys/placeholder.h) has this name, it becomes the wanted directory.
Result<> CreateDirectory(const std::string& path, Parents parents, Symlinks symlinks, const GuardedNames& guarded);

struct DirectoryEntry {
  std::string name;                            // raw bytes
  bool is_directory = false, is_file = false;  // for a link, these describe its target

  friend bool operator==(const DirectoryEntry&, const DirectoryEntry&) = default;
};

// Returns the entries of a directory, in no particular order, without links whose target is missing. More than
// `max_entries` entries are an error.
Result<std::vector<DirectoryEntry>> ReadDirectory(const std::string& path, size_t max_entries);

}  // namespace holdfast::files
