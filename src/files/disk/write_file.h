// Replaces the content of a file.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>

#include "base/result.h"
#include "files/disk/file.h"
#include "files/disk/guarded_names.h"
#include "files/disk/metadata.h"

namespace holdfast::files {

// Replaces a file by another one of the same name in one step. This is Replacement::kAtomic of files/disk/write_file.h.

// A function that looks at the file which is about to be replaced. If it returns an error, the file is not replaced.
using CheckCurrent = std::function<Result<>(const File& current)>;

// Replaces the file at `path` by one with the given bytes. `check` may be empty. It is called right before the
// replacement; with a `check`, a file that does not exist is kNotFound.
Result<> ReplaceFile(const std::string& path, std::span<const std::byte> bytes, Symlinks symlinks,
                     const CheckCurrent& check, const GuardedNames& guarded);

enum class Replacement {
  // The file itself is overwritten. Links to it stay. A reader may see the beginning of the new content with the end of
  // the old one. After a failed write, the file has the part of the new content that was written.
  kInPlace,
  // Another file is written, and is on disk before it gets the name of the old one. So a reader sees either the old or
  // the new content, even after a crash. The mode is kept, and the owner and group too if that is permitted. Other hard
  // links, ACLs and extended attributes are not kept. A file that may not be written is not replaced. A symbolic link
  // at
  // the end of the path is followed, and its target is replaced.
  kAtomic,
};

struct WriteOptions {
  Symlinks symlinks = Symlinks::kFollow;
  Replacement replacement = Replacement::kInPlace;
  // In lower-case hexadecimal digits. The file must be readable and have this digest before it is written. If it has
  // another digest or is missing, the write is kInvalidRequest. A change between the comparison and the write is not
  // noticed.
  std::optional<std::string> expected_sha256;
};

Result<> WriteFile(const std::string& path, std::span<const std::byte> bytes, const WriteOptions& options,
                   const GuardedNames& guarded);

}  // namespace holdfast::files
