// Params and results of session/*, and the members of initialize that concern shared sessions. A shared session has a
// name; one of the connections that are attached to it drives it, and the others observe.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "wire/encode.h"
#include "wire/process_list_messages.h"

namespace holdfast::wire {

enum class SessionRole { kDriver, kObserver };
template <>
struct EnumNames<SessionRole> {
  static constexpr std::array<std::pair<const char*, SessionRole>, 2> kNames{
      {{"driver", SessionRole::kDriver}, {"observer", SessionRole::kObserver}}};
};

// The members of initialize by which a client asks for a shared session.
struct SharedSessionFields {
  std::optional<std::string> session_name;
  std::optional<bool> shared;
  std::optional<SessionRole> role;
  std::optional<uint64_t> detached_ttl_ms;  // without it the session lives until it is ended

  void Fields(auto& f) {
    f.Optional("sessionName", session_name);
    f.Optional("shared", shared);
    f.Optional("role", role);
    f.Optional("detachedTtlMs", detached_ttl_ms);
  }
};

// The params of session/takeOver and session/list.
struct SessionParams {
  static constexpr bool kParamsOptional = true;

  void Fields(auto&) {}
};

struct SessionTakeOverResult {
  SessionRole role = SessionRole::kDriver;

  void Fields(auto& f) { f.Required("role", role); }
};

struct SessionKeepParams {
  std::optional<uint64_t> detached_ttl_ms;  // without it the session lives until it is ended

  void Fields(auto& f) { f.Optional("detachedTtlMs", detached_ttl_ms); }
};

struct ListedSession {
  std::string session_id;
  std::optional<std::string> session_name;
  bool shared = false;
  std::optional<SessionRole> role;  // of the caller, if it is attached to this session
  uint64_t connections = 0;
  std::optional<std::string> driver;  // the name of the client that drives the session
  int64_t created_at_ms = 0;          // milliseconds since the epoch
  std::optional<uint64_t> detached_ttl_ms;
  std::vector<ListedProcess> processes;

  void Fields(auto& f) {
    f.Required("sessionId", session_id);
    f.Optional("sessionName", session_name);
    f.Required("shared", shared);
    f.Optional("role", role);
    f.Required("connections", connections);
    f.Optional("driver", driver);
    f.Required("createdAtMs", created_at_ms);
    f.Optional("detachedTtlMs", detached_ttl_ms);
    f.Required("processes", processes);
  }
};

struct SessionListResult {
  std::vector<ListedSession> sessions;
  bool truncated = false;  // there are more processes than the answer has

  void Fields(auto& f) {
    f.Required("sessions", sessions);
    f.Required("truncated", truncated);
  }
};

// The session that session/end ends: the one with this id or name, or that of the caller if neither is given.
struct SessionEndParams {
  std::optional<std::string> session_id, session_name;

  void Fields(auto& f) {
    f.Optional("sessionId", session_id);
    f.Optional("sessionName", session_name);
  }
};

}  // namespace holdfast::wire
