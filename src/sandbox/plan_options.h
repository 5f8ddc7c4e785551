// What a plan depends on besides the rules about files.
#pragma once

#include <string>
#include <vector>

namespace holdfast::sandbox {

struct PlanOptions {
  std::string command_cwd;
  bool fresh_proc = true;
  bool proxy_only = false;
  bool port_is_shut = false;             // one that a command with a network must not connect to: port_ruleset.h
  std::vector<std::string> hidden = {};  // files that no command may use or replace, whatever the rules say
  std::string program_directory = {};    // where the sandbox's own programs lie: own_programs.h
};

}  // namespace holdfast::sandbox
