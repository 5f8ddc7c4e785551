// A Registrant is what a registry gets to know about an executor, and the request that says it. There are two forms of
// registration: as an executor, and as an environment that is reached directly.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>

#include "base/result.h"
#include "http/request.h"

namespace holdfast::remote {

enum class Form {
  kExecutor,  // registered again before each connection
  kDirect,    // registered once; every connection uses the same URL, as long as the rendezvous knows it
};

// Returns the word for the registered thing in paths and messages: "executor" or "environment".
std::string_view NounOf(Form form);

inline constexpr const char* kDefaultName = "codex-exec-server";
inline constexpr const char* kDirectTransport = "direct_jsonrpc_v1";

struct Registrant {
  Form form = Form::kExecutor;
  std::string registry_url = {};  // http or https; it may have a path
  std::string id = {};
  std::string name = kDefaultName;  // a direct registration does not send it
};

// Returns the registrant without the blanks around its id and its URL, and without slashes at the end of the URL. Fails
// if the id or the URL cannot be used.
Result<Registrant> Checked(Registrant registrant);

// The 16 bytes of a UUID that is made once for each process.
using ProcessUuid = std::array<std::byte, 16>;
ProcessUuid RandomProcessUuid();

// Returns the id by which a registry recognizes repeated registrations of one process.
std::string IdempotencyId(const Registrant& registrant, const ProcessUuid& uuid);

// Returns the request of a checked registrant. It follows no redirects, so that the token reaches no other server.
http::Request RegistrationRequest(const Registrant& registrant, const ProcessUuid& uuid, std::string_view token);

}  // namespace holdfast::remote
