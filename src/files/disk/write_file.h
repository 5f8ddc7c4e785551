// Replaces the content of a file.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>

#include "base/result.h"
#include "files/disk/guarded_names.h"
#include "files/disk/symlinks.h"

namespace holdfast::files {

enum class Replacement {
  // The file itself is overwritten: links to it stay, a reader may see the beginning of the new content with the end of
  // the old. What a failed write leaves is the part of the new content that was written.
  kInPlace,
  // A new file, on disk before it takes the old one's name: a reader sees the old or the new content, also after a
  // crash. Mode kept, owner and group too where permitted; other hard links, ACLs and extended attributes are not. A
  // file that may not be written is not replaced. A symbolic link at the end is followed: its target is replaced.
  kAtomic,
};

struct WriteOptions {
  Symlinks symlinks = Symlinks::kFollow;
  Replacement replacement = Replacement::kInPlace;
  // Lower-case hex. What is there must have this digest, and be readable; a missing file does not match.
  // kInvalidRequest otherwise. A writer who comes between the comparison and the write is not noticed.
  std::optional<std::string> expected_sha256;
};

Result<> WriteFile(const std::string& path, std::span<const std::byte> bytes, const WriteOptions& options,
                   const GuardedNames& guarded);

}  // namespace holdfast::files
