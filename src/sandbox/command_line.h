// The helper's command line: what callers of codex-linux-sandbox write, and a few words of our own.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace holdfast::sandbox {

// Landlock instead of namespaces and mounts, for the policies that can be said so: see sandbox/plan/landlock_plan.h.
enum class LegacyLandlock {
  kNo,
  kWhereItFits,  // by a setting: other policies stay with bubblewrap
  kRequired,     // by a flag: other policies are refused
};

struct CommandLine {
  std::string policy_cwd;
  std::vector<std::string> project_roots;  // empty: policy_cwd
  std::optional<std::string> command_cwd;  // default: policy_cwd
  std::optional<std::string> tool_path;    // where bwrap is looked for; default: $PATH
  std::optional<std::string> arg0;         // what the command is told of its name
  std::optional<std::string> profile;      // JSON
  std::optional<int> profile_fd;           // to read it from, so that it is in no list of processes
  LegacyLandlock legacy_landlock = LegacyLandlock::kNo;
  bool landlock_only = false;  // do with Landlock and the filter where there are no user namespaces
  bool network_through_proxy = false;
  std::vector<uint16_t> proxy_ports;  // where the proxies may be; empty: anywhere
  bool may_listen = true;             // in a network that consists of proxies
  bool fresh_proc = true;
  // What a server that starts many sandboxes knows, has opened, or keeps its commands away from.
  std::optional<int> program_fd;       // sandbox/jail/stage_image.h
  std::optional<int> bubblewrap_fd;    // the program; default: it is looked for
  std::string program_directory;       // sandbox/plan/own_programs.h; default: that of the running program
  std::string server_tmpdir;           // sandbox/resolve/temporary_directory.h
  std::vector<std::string> hidden;     // files that nobody inside may use or replace
  std::optional<uint16_t> shut_port;   // no proxy is looked for there
  std::optional<int> port_ruleset_fd;  // sandbox/confine/port_ruleset.h
  std::optional<int> report_fd;        // to say on whether the command was started: process/command/start_report.h
  bool fs_helper = false;              // runs what is built in, and no command
  std::vector<std::string> command;
};

// Without the program's name. kInvalidParams says what is wrong with it.
Result<CommandLine> ParseCommandLine(std::span<const std::string_view> words);

// KEY=VALUE, as `-c` takes it.
Result<LegacyLandlock> ParseSetting(std::string_view setting);

// All of the text is its number.
Result<int> ParseDescriptor(std::string_view text);

// What --report-fd names, whatever else is wrong with the words.
std::optional<int> FindReportFd(std::span<const std::string_view> words);

// One line per flag.
std::string Usage();

}  // namespace holdfast::sandbox
