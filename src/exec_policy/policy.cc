#include "exec_policy/policy.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/paths.h"
#include "exec_policy/definitions.h"
#include "exec_policy/program_path.h"
#include "exec_policy/rule.h"

namespace holdfast::exec_policy {

struct Policy::Rules {
  RuleIndex index;
  HostExecutables host_executables;
  NetworkHosts network_hosts;
};

Policy::Policy() : Policy(std::make_unique<Rules>()) {}
Policy::Policy(std::unique_ptr<Rules> rules) : rules_(std::move(rules)) {}
Policy::~Policy() = default;
Policy::Policy(Policy&&) noexcept = default;
Policy& Policy::operator=(Policy&&) noexcept = default;

Result<Policy> Policy::Parse(std::span<const RulesText> files, const starlark::Limits& limits) {
  Definitions definitions;
  starlark::Budget budget(limits);
  for (const RulesText& file : files) {
    TRY_VOID(definitions.RunFile({.name = file.name, .text = file.text}, budget));
  }
  return Policy(std::make_unique<Rules>(Rules{.index = RuleIndex(std::move(definitions.rules)),
                                              .host_executables = std::move(definitions.host_executables),
                                              .network_hosts = CompileNetworkRules(definitions.network_rules)}));
}

Evaluation Policy::Evaluate(std::span<const std::string> command, const std::optional<Places>& resolve) const {
  Evaluation evaluation;
  if (command.empty()) return evaluation;
  const auto arguments = command.subspan(1);
  std::vector<const Rule*> found = rules_->index.Find(command[0], arguments);
  std::optional<std::string> path, found_by_name;
  if (found.empty() && resolve) path = PathOfProgram(command[0], *resolve);
  if (path && command[0].contains('/')) found = rules_->index.Find(*path, arguments);
  if (found.empty() && path && ListingOf(*path) != HostExecutables::Listing::kExcluded) {
    found = rules_->index.Find(NameOf(*path), arguments);
    found_by_name = std::move(path);
  }
  evaluation.matches.reserve(found.size());
  for (const Rule* rule : found) {
    RuleMatch& match = evaluation.matches.emplace_back(MatchOf(*rule, arguments));
    match.resolved_program = found_by_name;
    evaluation.decision = std::max(evaluation.decision, std::optional(match.decision));
  }
  return evaluation;
}

HostExecutables::Listing Policy::ListingOf(std::string_view path) const {
  return rules_->host_executables.ListingOf(path);
}
const NetworkHosts& Policy::network_hosts() const { return rules_->network_hosts; }
size_t Policy::rule_count() const { return rules_->index.size(); }

}  // namespace holdfast::exec_policy
