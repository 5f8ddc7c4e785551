// Params and results of what an fs client holds on to: open files and watches.
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

enum class FsOpenMode { kRead, kReplace };
template <>
struct EnumNames<FsOpenMode> {
  static constexpr std::array<std::pair<const char*, FsOpenMode>, 2> kNames{
      {{"read", FsOpenMode::kRead}, {"replace", FsOpenMode::kReplace}}};
};

struct FsOpenParams {
  std::string handle_id, path;
  std::optional<FsOpenMode> mode;  // default read
  std::optional<Sandbox> sandbox;

  void Fields(auto& f) {
    f.Required("handleId", handle_id);
    f.Required("path", path);
    f.Optional("mode", mode);
    f.Optional("sandbox", sandbox);
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
  std::string_view chunk;  // base64, in the message

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
  std::optional<Sandbox> sandbox;

  void Fields(auto& f) {
    f.Required("watchId", watch_id);
    f.Required("missing", missing);
    f.Optional("present", present);
    f.Optional("sandbox", sandbox);
  }
};

struct FsWatchMissingResult {
  bool watching = false;

  void Fields(auto& f) { f.Required("watching", watching); }
};

}  // namespace holdfast::wire
