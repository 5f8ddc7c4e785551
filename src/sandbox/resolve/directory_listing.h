// Functions that list a directory, for scans of trees that a command may change at the same time. They follow no links,
// neither at the end of a path nor on the way.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace holdfast::sandbox {

enum class EntryKind { kDirectory, kFile, kLink, kOther };

enum class Listing { kContinue, kStop };
using VisitEntry = std::function<Listing(std::string_view name, EntryKind kind)>;

// Lists an open directory without "." and "..", in no particular order. `path` is for the error message.
Result<> ListOpenDirectory(int directory, const std::string& path, const VisitEntry& visit);

// Returns whether opening a directory has failed because it was removed meanwhile, or replaced by something else.
bool IsNoDirectory(int error);

// Lists the directory `path`, relative to the open directory `root`; an empty path is `root` itself. A directory that
// was removed meanwhile, or replaced by something else, counts as empty.
Result<> ListDirectory(int root, const std::string& path, const VisitEntry& visit);

}  // namespace holdfast::sandbox
