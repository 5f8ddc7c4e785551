#include "rendezvous/registration.h"

#include <chrono>
#include <optional>

#include <fmt/format.h>

#include "base/random_id.h"
#include "base/shown_text.h"
#include "wire/decode.h"
#include "wire/encode.h"

namespace holdfast::rendezvous {
namespace {

constexpr std::string_view kDirectTransport = "direct_jsonrpc_v1";
constexpr const char* kManyConnections = "many";

struct ExecutorBody {
  std::optional<std::string> executor_id, name;

  void Fields(auto& f) {
    f.Optional("executor_id", executor_id);
    f.Optional("name", name);
  }
};

struct EnvironmentBody {
  std::string transport;

  void Fields(auto& f) { f.Required("transport", transport); }
};

struct ExecutorAnswer {
  std::string id, executor_id, url, connections = kManyConnections;

  void Fields(auto& f) {
    f.Required("id", id);
    f.Required("executor_id", executor_id);
    f.Required("url", url);
    f.Required("connections", connections);
  }
};

struct EnvironmentAnswer {
  std::string environment_id, transport = std::string(kDirectTransport), registration_id, url,
                              connections = kManyConnections;

  void Fields(auto& f) {
    f.Required("environment_id", environment_id);
    f.Required("transport", transport);
    f.Required("registration_id", registration_id);
    f.Required("url", url);
    f.Required("connections", connections);
  }
};

std::unexpected<Error> BadBody(std::string message) { return Fail(ErrorKind::kInvalidParams, std::move(message)); }

Result<std::string> NameIn(const ExecutorBody& body, const std::string& id) {
  if (body.executor_id && *body.executor_id != id) return BadBody("executor_id is not the id of the path");
  const std::string& name = body.name && !body.name->empty() ? *body.name : id;
  if (name.size() > kMaxExecutorNameBytes || ShownText(name) != name) {
    return BadBody(
        fmt::format("name has more than {} bytes, or characters that cannot be seen", kMaxExecutorNameBytes));
  }
  return name;
}

Result<std::string> NameIn(const EnvironmentBody& body, const std::string& id) {
  if (body.transport != kDirectTransport) return BadBody(fmt::format("transport has to be {}", kDirectTransport));
  return id;
}

template <typename Body>
Result<std::string> NameIn(std::string_view text, const std::string& id) {
  wire::Document document;
  TRY(const wire::Json json, document.Parse(text));
  TRY(const Body body, wire::Decode<Body>(json, "the body"));
  return NameIn(body, id);
}

}  // namespace

Result<std::string> ReadRegistration(RegistrationForm form, const std::string& id, std::string_view body) {
  if (form == RegistrationForm::kEnvironment) return NameIn<EnvironmentBody>(body, id);
  return NameIn<ExecutorBody>(body, id);
}

std::string RegistrationAnswer(RegistrationForm form, const Ticket& ticket, const std::string& url) {
  if (form == RegistrationForm::kEnvironment) {
    return wire::Encode(
        EnvironmentAnswer{.environment_id = ticket.executor_id, .registration_id = ticket.registration_id, .url = url});
  }
  return wire::Encode(ExecutorAnswer{.id = ticket.registration_id, .executor_id = ticket.executor_id, .url = url});
}

std::string NextRegistrationId() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  const auto us = std::chrono::duration_cast<std::chrono::microseconds>(now).count();
  return fmt::format("{:016x}-{}", us, RandomUuid());
}

}  // namespace holdfast::rendezvous
