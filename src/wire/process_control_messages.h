// Params and results of the process/* methods that watch or steer a running process.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "wire/encode.h"

namespace holdfast::wire {

struct ProcessResizeParams {
  std::string process_id;
  uint16_t rows = 0, cols = 0;

  void Fields(auto& f) {
    f.Required("processId", process_id);
    f.Required("rows", rows);
    f.Required("cols", cols);
  }
};

struct ProcessSignalParams {
  std::string process_id, signal;

  void Fields(auto& f) {
    f.Required("processId", process_id);
    f.Required("signal", signal);
  }
};

struct GracePeriod {
  uint64_t timeout_ms = 0;

  void Fields(auto& f) { f.Required("timeoutMs", timeout_ms); }
};

// How a process is terminated. A client sends "force", or {"graceful": {"timeoutMs": N}}.
struct TerminateMode {
  static constexpr std::string_view kSchema =
      R"({"oneOf":[{"const":"force"},{"type":"object","properties":{"graceful":{"type":"object","properties":)"
      R"({"timeoutMs":{"type":"integer","minimum":0}},"required":["timeoutMs"]}},"required":["graceful"]}]})";

  std::optional<uint64_t> graceful_timeout_ms;

  RawJson json() const {
    if (!graceful_timeout_ms) return {R"("force")"};
    return {R"({"graceful":)" + Encode(GracePeriod{*graceful_timeout_ms}) + "}"};
  }
};

struct ProcessTerminateParams {
  std::string process_id;
  std::optional<TerminateMode> mode;

  void Fields(auto& f) {
    f.Required("processId", process_id);
    if constexpr (requires { f.object(); }) {
      ReadMode(f);
    } else {
      f.Optional("mode", mode);
    }
  }

 private:
  void ReadMode(Decoder& f) {
    Json json = f.object().Find("mode");
    if (json.is_null()) return;
    mode.emplace();
    if (json.string() == "force") return;
    mode->graceful_timeout_ms = json.Find("graceful").Find("timeoutMs").uint64();
    if (!mode->graceful_timeout_ms) f.Fault("mode", R"(expected "force" or {"graceful":{"timeoutMs":N}})");
  }
};

struct ProcessTerminateResult {
  bool running = false;

  void Fields(auto& f) { f.Required("running", running); }
};

struct ProcessSnapshotResult {
  // The members of the message are called stdout, stderr and terminal; `stdout` is a macro in C++.
  Bytes out, err, terminal;
  bool truncated = false, running = false;
  uint64_t omitted_bytes = 0;
  std::optional<int64_t> exit_code;

  void Fields(auto& f) {
    f.Required("stdout", out);
    f.Required("stderr", err);
    f.Required("terminal", terminal);
    f.Required("truncated", truncated);
    f.Required("omittedBytes", omitted_bytes);
    f.Nullable("exitCode", exit_code);
    f.Required("running", running);
  }
};

}  // namespace holdfast::wire
