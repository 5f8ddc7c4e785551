// What a plan depends on besides the rules about files.
#pragma once

#include <string>
#include <vector>

namespace holdfast::sandbox {

// How names that are missing and must not be made are kept so.
enum class MissingNames {
  kCovered,  // by a mount, which needs a placeholder
  kRefused,  // by the caller itself, which runs none but our own code
};

// A network of the command's own that has nothing in it but proxies, in place of the network that the policy speaks of.
enum class ProxyNetwork {
  kNone,
  kListening,    // the command may listen in it
  kNoListening,  // it may not
};

struct PlanOptions {
  std::string command_cwd;
  bool fresh_proc = true;
  MissingNames missing_names = MissingNames::kCovered;
  ProxyNetwork proxy_network = ProxyNetwork::kNone;
  bool port_is_shut = false;             // one that a command with a network must not connect to: port_ruleset.h
  std::vector<std::string> hidden = {};  // files that no command may use or replace, whatever the rules say
  std::string program_directory = {};    // where the sandbox's own programs lie: own_programs.h
};

}  // namespace holdfast::sandbox
