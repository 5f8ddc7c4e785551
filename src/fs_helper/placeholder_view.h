// What a sandbox lays over protected names that are missing (sandbox/placeholders.h) is no file or directory of the
// client's: to whoever asks a file helper, nothing is there. It still cannot be made or removed.
//
// Told by being an empty mount of its own, on a tmpfs, with the mode of such a cover. An empty directory or file of the
// user's is taken for one only if it has that mode, is on a tmpfs and is named by the policy.
#pragma once

#include <string>

#include "base/result.h"
#include "fs_helper/claim.h"
#include "wire/fs_messages.h"
#include "wire/fs_tree_messages.h"

namespace holdfast::fs_helper {

// Of a placeholder, also behind a link at the end, if that is followed: there is nothing to read, and nothing may be
// made or changed.
enum class LastLink { kFollow, kKeep };
Result<> CheckPlaceholder(const Claim& claim, LastLink last_link);

// Leaves placeholders out of what an operation on `path` found.
void HidePlaceholders(const std::string& path, wire::FsReadDirectoryResult& result);
void HidePlaceholders(const std::string& path, wire::FsWalkResult& result);

}  // namespace holdfast::fs_helper
