// The plan of a patch: everything that it will do to the disk, as values that are complete before the first write.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "sys/file_identity.h"

namespace holdfast::apply_patch {

// A regular file that the patch reads or writes.
struct PlannedFile {
  std::optional<sys::FileIdentity> on_disk = {};  // unset if the patch makes the file
  std::optional<mode_t> permissions = {};         // unset for the default permissions of a new file
  std::optional<std::string> original = {};       // the content on disk; unset until it is read
  struct timespec times[2] = {};                  // the access and modification times that belong to `original`
  std::optional<std::string> planned = {};        // the content after the patch; unset if the file is only read
};

// The steps of a plan. Their paths are as NormalPath returns them, and lead to the right place once the steps before
// have been done.
struct MakeDirectory {
  std::string path;
};
struct WriteFile {  // the file is overwritten in place, so links to it, its owner and its mode stay
  std::string path;
  size_t file;
};
struct CreateFile {
  std::string path;
  std::string place;  // `path`, or the target if `path` is a link
  size_t file;
};
struct RemoveName {
  std::string path;
};

using Step = std::variant<MakeDirectory, WriteFile, CreateFile, RemoveName>;

struct Plan {
  std::vector<PlannedFile> files;
  std::vector<Step> steps;  // a file that is changed several times is written once, with its last content
};

}  // namespace holdfast::apply_patch
