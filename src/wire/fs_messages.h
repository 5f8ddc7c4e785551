// Params and results of the fs/* methods that deal with one file or directory. The params of methods that accept a
// sandbox are decoded as Sandboxed (sandbox_messages.h).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "wire/encode.h"

namespace holdfast::wire {

// A path and nothing else. Every path in a request is absolute or a file: URI.
struct FsPathParams {
  std::string path;

  void Fields(auto& f) { f.Required("path", path); }
};

// A path that may be resolved without following links.
struct FsFollowParams : FsPathParams {
  std::optional<bool> follow_symlinks;

  void Fields(auto& f) {
    FsPathParams::Fields(f);
    f.Optional("followSymlinks", follow_symlinks);
  }
};

// The answer to fs/readFile is encoded while the file is read, so no object of this type has the data. The type exists
// because the reply needs the type of its result.
struct FsReadFileResult {
  Bytes data;

  void Fields(auto& f) { f.Required("dataBase64", data); }
};

struct FsWriteFileParams : FsFollowParams {
  std::string_view data_base64;  // a view of the message
  std::optional<bool> atomic;
  std::optional<std::string> expected_sha256;

  void Fields(auto& f) {
    FsFollowParams::Fields(f);
    f.Required("dataBase64", data_base64);
    f.Optional("atomic", atomic);
    f.Optional("expectedSha256", expected_sha256);
  }
};

struct FsCreateDirectoryParams : FsFollowParams {
  std::optional<bool> recursive;  // default true

  void Fields(auto& f) {
    FsFollowParams::Fields(f);
    f.Optional("recursive", recursive);
  }
};

struct FsGetMetadataResult {
  bool is_directory = false, is_file = false, is_symlink = false;
  uint64_t size = 0;  // 0 from servers of older versions
  int64_t created_at_ms = 0, modified_at_ms = 0;
  std::optional<uint64_t> permissions = {};  // the bits 0777 of the mode; absent from published servers

  void Fields(auto& f) {
    f.Required("isDirectory", is_directory);
    f.Required("isFile", is_file);
    f.Required("isSymlink", is_symlink);
    f.Optional("size", size);
    f.Required("createdAtMs", created_at_ms);
    f.Required("modifiedAtMs", modified_at_ms);
    f.Optional("permissions", permissions);
  }
};

struct FsDirectoryEntry {
  std::string file_name;
  bool is_directory = false, is_file = false;

  void Fields(auto& f) {
    f.Required("fileName", file_name);
    f.Required("isDirectory", is_directory);
    f.Required("isFile", is_file);
  }
};

struct FsReadDirectoryResult {
  std::vector<FsDirectoryEntry> entries;

  void Fields(auto& f) { f.Required("entries", entries); }
};

struct FsCanonicalizeResult {
  std::string path;  // a file URI

  void Fields(auto& f) { f.Required("path", path); }
};

}  // namespace holdfast::wire
