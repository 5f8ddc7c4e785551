// Params and results of initialize and environment/*.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "wire/encode.h"
#include "wire/environment_capabilities.h"
#include "wire/shared_session_messages.h"

namespace holdfast::wire {

struct ClientCapabilities {
  bool lifecycle = false;  // the client wants process/started and process/failed
  std::optional<uint64_t> max_message_bytes;

  void Fields(auto& f) {
    f.Optional("lifecycle", lifecycle);
    f.Optional("maxMessageBytes", max_message_bytes);
  }
};

struct InitializeParams {
  std::string client_name;
  std::optional<std::string> resume_session_id;
  std::optional<ClientCapabilities> capabilities;
  SharedSessionFields sharing;

  void Fields(auto& f) {
    f.Required("clientName", client_name);
    f.Optional("resumeSessionId", resume_session_id);
    f.Optional("capabilities", capabilities);
    sharing.Fields(f);
  }
};

struct Shell {
  std::string name, path;

  void Fields(auto& f) {
    f.Required("name", name);
    f.Required("path", path);
  }
};

// The machine as a client sees it. All paths are file URIs. A server of an older version tells only its shell.
struct EnvironmentInfo {
  Shell shell;
  std::string executor_version, platform_os, cwd, user_home_dir, temp_dir;
  std::optional<std::string> provider_id;
  std::vector<std::string> prepend_path_dirs, temporary_directories;
  EnvironmentCapabilities capabilities;

  void Fields(auto& f) {
    f.Required("shell", shell);
    f.Optional("executorVersion", executor_version);
    f.Optional("providerId", provider_id);
    f.Optional("cwd", cwd);
    f.Optional("userHomeDir", user_home_dir);
    f.Optional("platformOs", platform_os);
    f.Optional("prependPathDirs", prepend_path_dirs);
    f.Optional("temporaryDirectories", temporary_directories);
    f.Optional("tempDir", temp_dir);
    f.Optional("capabilities", capabilities);
  }
};

// The params of this notification are ignored.
struct InitializedParams {
  static constexpr bool kParamsOptional = true;

  void Fields(auto&) {}
};

// environment/info and environment/status have no params.
struct EnvironmentParams {
  static constexpr bool kParamsOptional = true;

  void Fields(auto&) {}
};

struct EnvironmentStatusResult {
  std::string status;

  void Fields(auto& f) { f.Required("status", status); }
};

struct InitializeResult {
  std::string session_id;
  std::optional<EnvironmentInfo> environment_info;  // absent from servers of older versions
  std::optional<std::string> session_name;          // this and the role only of a shared session
  std::optional<SessionRole> role;

  void Fields(auto& f) {
    f.Required("sessionId", session_id);
    f.Optional("environmentInfo", environment_info);
    f.Optional("sessionName", session_name);
    f.Optional("role", role);
  }
};

}  // namespace holdfast::wire
