// The directories in which rules files are looked for.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace holdfast::exec_policy {

// The variables of the environment that say where the files of a user are.
struct HomeVariables {
  std::optional<std::string> home = {}, codex_home = {}, xdg_config_home = {};

  static HomeVariables OfThisProcess();
};

struct RuleLayers {
  std::vector<std::string> directories;  // in the order in which they are read: those of the system, then the user's
  // The file that gets the rules which the user approves; absent if the user has no home directory.
  std::optional<std::string> approved_rules;

  friend bool operator==(const RuleLayers&, const RuleLayers&) = default;
};

// Variables that are not absolute paths are taken for absent.
RuleLayers FindRuleLayers(const HomeVariables& variables);

}  // namespace holdfast::exec_policy
