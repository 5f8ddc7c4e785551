#include "exec_policy/store/rule_layers.h"

#include "base/environment_variable.h"

namespace holdfast::exec_policy {
namespace {

std::optional<std::string> AbsoluteOr(const std::optional<std::string>& given,
                                      const std::optional<std::string>& otherwise) {
  return given && given->starts_with('/') ? given : otherwise;
}

std::optional<std::string> Below(const std::optional<std::string>& directory, const std::string& name) {
  if (!directory) return std::nullopt;
  return *directory + "/" + name;
}

}  // namespace

HomeVariables HomeVariables::OfThisProcess() {
  return {.home = EnvironmentVariable("HOME"),
          .codex_home = EnvironmentVariable("CODEX_HOME"),
          .xdg_config_home = EnvironmentVariable("XDG_CONFIG_HOME")};
}

RuleLayers FindRuleLayers(const HomeVariables& variables) {
  const auto home = AbsoluteOr(variables.home, std::nullopt);
  const auto codex = Below(AbsoluteOr(variables.codex_home, Below(home, ".codex")), "rules");
  const auto own = Below(AbsoluteOr(variables.xdg_config_home, Below(home, ".config")), "holdfast/rules");
  RuleLayers layers{.directories = {"/etc/codex/rules", "/etc/holdfast/rules"},
                    .approved_rules = Below(codex, "default.rules")};
  if (codex) layers.directories.push_back(*codex);
  if (own) layers.directories.push_back(*own);
  return layers;
}

}  // namespace holdfast::exec_policy
