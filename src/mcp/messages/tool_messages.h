// The messages about tools, and the question that the server asks its client during a call.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "wire/encode.h"

namespace holdfast::mcp {

struct ListToolsResult {
  std::vector<wire::RawJson> tools;

  void Fields(auto& f) { f.Required("tools", tools); }
};

struct RequestMeta {
  std::optional<wire::RawJson> progress_token;  // a string or an integer, sent back as it came

  void Fields(auto& f) { f.Optional("progressToken", progress_token); }
};

// The arguments of the tool `shell`. Members that are not listed are ignored.
struct ShellArguments {
  std::string command, workdir;
  std::optional<uint64_t> timeout_ms;
  std::optional<bool> login;

  void Fields(auto& f) {
    f.Required("command", command);
    f.Required("workdir", workdir);
    f.Optional("timeout_ms", timeout_ms);
    f.Optional("login", login);
  }
};

struct CallToolParams {
  std::string name;
  wire::Json arguments;  // a view of the message; their meaning depends on the tool
  RequestMeta meta;

  void Fields(wire::Decoder& f) {
    f.Required("name", name);
    f.Optional("arguments", arguments);
    f.Optional("_meta", meta);
  }
};

struct TextContent {
  std::string type = "text", text;

  void Fields(auto& f) {
    f.Required("type", type);
    f.Required("text", text);
  }
};

struct CallToolResult {
  std::vector<TextContent> content;
  bool is_error = false;

  void Fields(auto& f) {
    f.Required("content", content);
    f.Required("isError", is_error);
  }
};

struct ShellDuration {
  uint64_t secs = 0, nanos = 0;

  void Fields(auto& f) {
    f.Required("secs", secs);
    f.Required("nanos", nanos);
  }
};

// The text of the content of a call, as JSON.
struct ShellResult {
  int64_t exit_code = 0;
  std::string output;
  ShellDuration duration;
  bool timed_out = false;

  void Fields(auto& f) {
    f.Required("exit_code", exit_code);
    f.Required("output", output);
    f.Required("duration", duration);
    f.Required("timed_out", timed_out);
  }
};

struct ProgressParams {
  wire::RawJson progress_token;
  uint64_t progress = 0;  // rises with each notification of a call
  std::string message;

  void Fields(auto& f) {
    f.Required("progressToken", progress_token);
    f.Required("progress", progress);
    f.Required("message", message);
  }
};

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
