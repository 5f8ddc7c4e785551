// Params and results of the fs/* methods whose effect stays after their answer: open files and watches.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "wire/fs_messages.h"

namespace holdfast::wire {

// kReplace and kUpdate open a file for writing, and create it if it is missing. kUpdate keeps what is in it.
enum class FsOpenMode { kRead, kReplace, kUpdate };
template <>
struct EnumNames<FsOpenMode> {
  static constexpr std::array<std::pair<const char*, FsOpenMode>, 3> kNames{
      {{"read", FsOpenMode::kRead}, {"replace", FsOpenMode::kReplace}, {"update", FsOpenMode::kUpdate}}};
};

// The path of a file to open and the mode to open it in.
struct FsOpenFileParams : FsFollowParams {
  std::optional<FsOpenMode> mode = {};  // default read
  std::optional<uint64_t> size = {};    // only with kUpdate: the file is cut here, and must not be shorter
  // These two are set on a file that is opened for writing, and are refused otherwise.
  std::optional<uint64_t> permissions = {};  // at most 0777; the server removes the bits of its umask
  std::optional<int64_t> modified_at_ms = {};

  void Fields(auto& f) {
    FsFollowParams::Fields(f);
    f.Optional("mode", mode);
    f.Optional("size", size);
    f.Optional("permissions", permissions);
    f.Optional("modifiedAtMs", modified_at_ms);
  }
};

struct FsOpenParams : FsOpenFileParams {
  std::string handle_id;

  void Fields(auto& f) {
    f.Required("handleId", handle_id);
    FsOpenFileParams::Fields(f);
  }
};

// The result of fs/open, and the params of fs/close.
struct FsHandle {
  std::string handle_id;

  void Fields(auto& f) { f.Required("handleId", handle_id); }
};

struct FsReadBlockParams {
  std::string handle_id;
  uint64_t offset = 0, len = 0;

  void Fields(auto& f) {
    f.Required("handleId", handle_id);
    f.Required("offset", offset);
    f.Required("len", len);
  }
};

struct FsReadBlockResult {
  Bytes chunk;
  bool eof = false;

  void Fields(auto& f) {
    f.Required("chunk", chunk);
    f.Required("eof", eof);
  }
};

struct FsWriteBlockParams {
  std::string handle_id;
  uint64_t offset = 0;
  std::string_view chunk;  // base64, a view of the message

  void Fields(auto& f) {
    f.Required("handleId", handle_id);
    f.Required("offset", offset);
    f.Required("chunk", chunk);
  }
};

struct FsWatchMissingParams {
  uint64_t watch_id = 0;
  std::vector<std::string> missing;
  std::optional<std::string> present;

  void Fields(auto& f) {
    f.Required("watchId", watch_id);
    f.Required("missing", missing);
    f.Optional("present", present);
  }
};

struct FsWatchMissingResult {
  bool watching = false;

  void Fields(auto& f) { f.Required("watching", watching); }
};

struct FsMissingChangedParams {
  uint64_t watch_id = 0;

  void Fields(auto& f) { f.Required("watchId", watch_id); }
};

}  // namespace holdfast::wire
