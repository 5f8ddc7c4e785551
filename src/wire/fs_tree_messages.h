// Params and results of the fs/* methods that deal with trees, or with two paths.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "wire/fs_messages.h"

namespace holdfast::wire {

struct FsRemoveParams : FsFollowParams {
  std::optional<bool> recursive, force;  // default true

  void Fields(auto& f) {
    FsFollowParams::Fields(f);
    f.Optional("recursive", recursive);
    f.Optional("force", force);
  }
};

struct FsCopyParams {
  std::string source_path, destination_path;
  bool recursive = false;

  void Fields(auto& f) {
    f.Required("sourcePath", source_path);
    f.Required("destinationPath", destination_path);
    f.Required("recursive", recursive);
  }
};

struct FsRenameParams {
  std::string source_path, destination_path;
  std::optional<bool> replace;  // default true

  void Fields(auto& f) {
    f.Required("sourcePath", source_path);
    f.Required("destinationPath", destination_path);
    f.Optional("replace", replace);
  }
};

struct FsWalkOptions {
  uint64_t max_depth = 0, max_directories = 0, max_entries = 0;
  bool follow_directory_symlinks = false;
  std::optional<bool> prune_hidden_directories;

  void Fields(auto& f) {
    f.Required("maxDepth", max_depth);
    f.Required("maxDirectories", max_directories);
    f.Required("maxEntries", max_entries);
    f.Required("followDirectorySymlinks", follow_directory_symlinks);
    f.Optional("pruneHiddenDirectories", prune_hidden_directories);
  }
};

struct FsWalkParams : FsPathParams {
  FsWalkOptions options;

  void Fields(auto& f) {
    FsPathParams::Fields(f);
    f.Required("options", options);
  }
};

enum class WalkedKind { kDirectory, kFile };
template <>
struct EnumNames<WalkedKind> {
  static constexpr std::array<std::pair<const char*, WalkedKind>, 2> kNames{
      {{"directory", WalkedKind::kDirectory}, {"file", WalkedKind::kFile}}};
};

struct FsWalkEntry {
  std::string path;  // a file URI
  WalkedKind kind = WalkedKind::kFile;

  void Fields(auto& f) {
    f.Required("path", path);
    f.Required("kind", kind);
  }
};

struct FsWalkError {
  std::string path, message;

  void Fields(auto& f) {
    f.Required("path", path);
    f.Required("message", message);
  }
};

struct FsWalkResult {
  std::vector<FsWalkEntry> entries;
  std::vector<FsWalkError> errors;
  bool truncated = false;

  void Fields(auto& f) {
    f.Required("entries", entries);
    f.Required("errors", errors);
    f.Required("truncated", truncated);
  }
};

}  // namespace holdfast::wire
