// The messages about tools and their calls.
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
  // The sandbox of the call, under the names that announce it. Views of the message; sandbox_messages.h decodes them.
  static constexpr char kSandboxStateMeta[] = "codex/sandbox-state-meta", kSandboxState[] = "codex/sandbox-state";

  std::optional<wire::RawJson> progress_token;  // a string or an integer, sent back as it came
  wire::Json sandbox_state_meta, sandbox_state;

  void Fields(wire::Decoder& f) {
    f.Optional("progressToken", progress_token);
    f.Optional(kSandboxStateMeta, sandbox_state_meta);
    f.Optional(kSandboxState, sandbox_state);
  }
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

struct ShellDuration {
  uint64_t secs = 0, nanos = 0;

  void Fields(auto& f) {
    f.Required("secs", secs);
    f.Required("nanos", nanos);
  }
};

// The result of the tool `shell`. The outputSchema of the tool (shell_tool.cc) describes it.
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

struct CallToolResult {
  std::vector<TextContent> content;  // one text: the structured content as JSON, for clients that do not know it
  wire::RawJson structured_content;
  bool is_error = false;

  void Fields(auto& f) {
    f.Required("content", content);
    f.Required("structuredContent", structured_content);
    f.Required("isError", is_error);
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

}  // namespace holdfast::mcp
