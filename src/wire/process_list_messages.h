// Params and result of process/list.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "wire/encode.h"
#include "wire/process_end_messages.h"

namespace holdfast::wire {

enum class ProcessState { kStarting, kRunning, kExited, kClosed };
template <>
struct EnumNames<ProcessState> {
  static constexpr std::array<std::pair<const char*, ProcessState>, 4> kNames{{{"starting", ProcessState::kStarting},
                                                                               {"running", ProcessState::kRunning},
                                                                               {"exited", ProcessState::kExited},
                                                                               {"closed", ProcessState::kClosed}}};
};

// What a sandbox lets a command do, in short. The paths are for people, and of very many only the first are listed.
struct ListedSandbox {
  std::string files;                    // "unrestricted", "read-only", "workspace-write", "restricted" or "external"
  bool network = false;                 // the command has one, or proxies to one
  std::vector<std::string> write = {};  // the paths that may be written
  std::vector<std::string> deny = {};   // the paths and patterns that may not even be read

  void Fields(auto& f) {
    f.Required("files", files);
    f.Required("network", network);
    f.Required("write", write);
    f.Required("deny", deny);
  }
};

struct ListedProcess {
  std::string process_id;
  std::vector<std::string> argv;
  std::optional<int64_t> pid;  // null until the command runs
  ProcessState state = ProcessState::kStarting;
  std::optional<int64_t> exit_code;
  std::optional<ProcessEnd> end;
  int64_t started_at_ms = 0;  // milliseconds since the epoch
  std::optional<int64_t> exited_at_ms;
  uint64_t output_bytes = 0, input_bytes = 0;
  std::optional<std::string> cwd;                 // a file: URI
  std::optional<ListedSandbox> sandbox;           // absent if nothing restricts the command
  std::optional<std::vector<std::string>> rules;  // the rules files, as the client has named them
  std::optional<std::string> signal;              // the name of the signal that ended the command

  void Fields(auto& f) {
    f.Required("processId", process_id);
    f.Required("argv", argv);
    f.Nullable("pid", pid);
    f.Required("state", state);
    f.Nullable("exitCode", exit_code);
    f.Optional("end", end);
    f.Required("startedAtMs", started_at_ms);
    f.Nullable("exitedAtMs", exited_at_ms);
    f.Required("outputBytes", output_bytes);
    f.Required("inputBytes", input_bytes);
    f.Optional("cwd", cwd);
    f.Optional("sandbox", sandbox);
    f.Optional("rules", rules);
    f.Optional("signal", signal);
  }
};

struct ProcessListParams {
  static constexpr bool kParamsOptional = true;

  void Fields(auto&) {}
};

struct ProcessListResult {
  std::vector<ListedProcess> processes;
  bool truncated = false;

  void Fields(auto& f) {
    f.Required("processes", processes);
    f.Required("truncated", truncated);
  }
};

}  // namespace holdfast::wire
