// The names in a directory, for scans of trees that a command may change meanwhile: links are nowhere followed.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace holdfast::sandbox {

enum class EntryKind { kDirectory, kFile, kLink, kOther };

enum class Listing { kContinue, kStop };
using VisitEntry = std::function<Listing(std::string_view name, EntryKind kind)>;

// Lists an open directory, in no order, without "." and "..". The error names `path`.
Result<> ListOpenDirectory(int directory, const std::string& path, const VisitEntry& visit);

// What opening a directory says when it is gone meanwhile, or has become something else.
bool IsNoDirectory(int error);

// Lists `path`, relative to the open directory `root`; empty is `root` itself. What is gone meanwhile, or has become
// something else, has no names.
Result<> ListDirectory(int root, const std::string& path, const VisitEntry& visit);

}  // namespace holdfast::sandbox
