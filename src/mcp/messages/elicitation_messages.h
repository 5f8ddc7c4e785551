// The question that the server asks the user of its client during a call.
#pragma once

#include <string>

#include "wire/encode.h"

namespace holdfast::mcp {

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
