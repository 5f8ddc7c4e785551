// The messages by which an MCP client opens a conversation, asks what the server has, and cancels a request.
#pragma once

#include <string>
#include <vector>

#include "wire/encode.h"

namespace holdfast::mcp {

// The params of methods that need none.
struct NoParams {
  static constexpr bool kParamsOptional = true;

  void Fields(auto&) {}
};

struct ClientCapabilities {
  wire::Json elicitation;  // an object if the client can ask its user; a view of the message

  void Fields(wire::Decoder& f) { f.Optional("elicitation", elicitation); }
};

struct InitializeParams {
  std::string protocol_version;
  ClientCapabilities capabilities;

  void Fields(wire::Decoder& f) {
    f.Required("protocolVersion", protocol_version);
    f.Optional("capabilities", capabilities);
  }
};

// A program, by its name and its version.
struct Implementation {
  std::string name, version;

  void Fields(auto& f) {
    f.Required("name", name);
    f.Required("version", version);
  }
};

struct InitializeResult {
  std::string protocol_version;
  wire::RawJson capabilities;
  Implementation server_info;
  std::string instructions;

  void Fields(auto& f) {
    f.Required("protocolVersion", protocol_version);
    f.Required("capabilities", capabilities);
    f.Required("serverInfo", server_info);
    f.Required("instructions", instructions);
  }
};

// Lists of features that this server does not have.
struct ResourcesResult {
  std::vector<wire::Empty> resources = {};

  void Fields(auto& f) { f.Required("resources", resources); }
};

struct PromptsResult {
  std::vector<wire::Empty> prompts = {};

  void Fields(auto& f) { f.Required("prompts", prompts); }
};

// A request that will not be waited for any longer. The client sends this about its calls, and the server about its
// questions.
struct CancelledParams {
  wire::RawJson request_id;
  std::string reason = {};

  void Fields(auto& f) {
    f.Required("requestId", request_id);
    f.Optional("reason", reason);
  }
};

// The question that the server asks the user of its client during a call.
struct ElicitParams {
  std::string message;
  wire::RawJson requested_schema;
  void Fields(auto& f) {
    f.Required("message", message);
    f.Required("requestedSchema", requested_schema);
  }
};

struct ElicitResult {
  std::string action;  // accept, decline or cancel
  void Fields(auto& f) { f.Required("action", action); }
};

}  // namespace holdfast::mcp
