// The options of a plan: everything that it depends on besides the rules for files.
#pragma once

#include <string>
#include <vector>

namespace holdfast::sandbox {

// The means by which a protected path that does not exist is kept from being created.
enum class MissingNames {
  kCovered,  // a mount covers it, which needs a placeholder
  kRefused,  // the caller refuses to create it; only for a caller that runs no code but ours in the sandbox
};

// The way in which the backend finds the files that it mounts.
enum class MountsBy {
  kName,        // a file that is replaced at the right moment is found too late, and missing mount points are made
  kDescriptor,  // each file is opened once, a link as well, and nothing is made
};

// A network namespace for the command that has nothing in it but proxies. It takes the place of the network that the
// policy grants.
enum class ProxyNetwork {
  kNone,
  kListening,    // the command may listen in it
  kNoListening,  // the command may not listen in it
};

struct PlanOptions {
  std::string command_cwd;
  bool fresh_proc = true;
  MissingNames missing_names = MissingNames::kCovered;
  MountsBy mounts_by = MountsBy::kName;
  ProxyNetwork proxy_network = ProxyNetwork::kNone;
  bool port_is_shut = false;             // a command with a network must not connect to one TCP port: port_ruleset.h
  std::vector<std::string> hidden = {};  // files that the command may not use or replace, whatever the rules grant
  std::vector<std::string> private_dirs = {};  // the same for directories of the user's private server
  std::string program_directory = {};          // the directory of holdfast's own programs: own_programs.h
};

}  // namespace holdfast::sandbox
