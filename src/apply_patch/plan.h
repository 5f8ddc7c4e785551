// What a patch will do to the disk: values that are worked out before the first write.
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
  std::optional<sys::FileIdentity> on_disk = {};  // none: the patch makes it
  std::optional<mode_t> permissions = {};         // none: the usual ones of a new file
  std::optional<std::string> original = {};       // what is on disk, once it was read
  struct timespec times[2] = {};                  // when `original` was last read and written
  std::optional<std::string> planned = {};        // what it will be; none: it is only read
};

// Paths are normal, and lead where they should when the steps before have been done.
struct MakeDirectory {
  std::string path;
};
struct WriteFile {  // in place: links to it, its owner and its mode stay
  std::string path;
  size_t file;
};
struct CreateFile {
  std::string path;
  std::string place;  // `path`, or where a link at its end leads
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
