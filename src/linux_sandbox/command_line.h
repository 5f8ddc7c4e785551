// The helper's command line: what callers of codex-linux-sandbox write, and a few words of our own.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace holdfast::linux_sandbox {

struct CommandLine {
  std::string policy_cwd;
  std::optional<std::string> command_cwd;  // default: policy_cwd
  std::optional<std::string> profile;      // JSON
  std::optional<int> profile_fd;           // to read it from, so that it is in no list of processes
  bool legacy_landlock = false;
  bool landlock_only = false;  // do with Landlock and the filter where there are no user namespaces
  bool network_through_proxy = false;
  std::vector<uint16_t> proxy_ports;  // where the proxies may be; empty: anywhere
  bool fresh_proc = true;
  std::vector<std::string> command;
};

// Without the program's name. kInvalidParams says what is wrong with it.
Result<CommandLine> ParseCommandLine(std::span<const std::string_view> words);

// One line per flag.
std::string Usage();

}  // namespace holdfast::linux_sandbox
