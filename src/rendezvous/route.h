// The paths that a node answers, in one table.
#pragma once

#include <expected>
#include <optional>
#include <string>
#include <string_view>

#include "rendezvous/refusal.h"
#include "transport/http_call.h"

namespace holdfast::rendezvous {

enum class Route {
  kRegisterExecutor,     // POST /cloud/executor/{id}/register
  kRegisterEnvironment,  // POST /cloud/environment/{id}/direct/register
  kExecutor,             // GET /rendezvous/{id}, a WebSocket
  kClient,               // GET /executors/{id}, a WebSocket
  kList,                 // GET /executors
  kLink,                 // GET /links/{id}, an upgrade: another node asks for a connection of the executor
  kWatch,                // GET /links, an upgrade: another node watches over this one
  kReady,                // GET /readyz
  kMetrics,              // GET /metrics
};

struct Destination {
  Route route;
  std::string id = {};  // percent-decoded, and valid; empty if the route has none

  friend bool operator==(const Destination&, const Destination&) = default;
};

std::expected<Destination, Refusal> DestinationOf(const transport::HttpMessage& request);

// Returns the value of a parameter, percent-decoded; nothing if the query does not have it, or has it twice.
std::optional<std::string> QueryValue(std::string_view query, std::string_view name);

// Returns whether a text may be the id of an executor: 1 to 128 bytes of UTF-8 without control characters and slashes.
// The names `.` and `..` are none, because programs remove them from a path.
bool IsExecutorId(std::string_view text);

}  // namespace holdfast::rendezvous
