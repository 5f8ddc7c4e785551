// A file on the server, by its name, and its properties.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace holdfast::client {

class Session;

// The properties of a file that a client can set. Only servers with the capability `fileUpdate` set them.
struct FileAttributes {
  std::optional<uint64_t> permissions = {};  // at most 0777; the server removes the bits of its umask
  std::optional<int64_t> modified_at_ms = {};
};

struct RemoteFile {
  std::shared_ptr<Session> session;
  std::string path;     // absolute
  std::string sandbox;  // JSON of the `sandbox` member; empty: no sandbox
};

}  // namespace holdfast::client
