// An index of rules by their first two words. The time of a lookup depends on the rules that begin like the command,
// and not on the number of all rules.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "exec_policy/rule.h"

namespace holdfast::exec_policy {

class RuleIndex {
 public:
  RuleIndex() = default;
  explicit RuleIndex(std::vector<Rule> rules);
  // The keys of the index are views of the rules, so a copy would refer to the original.
  RuleIndex(const RuleIndex&) = delete;
  RuleIndex& operator=(const RuleIndex&) = delete;
  RuleIndex(RuleIndex&&) noexcept = default;
  RuleIndex& operator=(RuleIndex&&) noexcept = default;

  // Returns the rules that match, in the order in which they were defined. A rule about a path is found by that path as
  // it is written, and without `.`, `..` and empty components.
  std::vector<const Rule*> Find(std::string_view program, std::span<const std::string> arguments) const;

  size_t size() const { return rules_.size(); }

 private:
  using Numbers = std::vector<uint32_t>;  // places in `rules_`, in rising order

  struct ProgramRules {
    Numbers without_arguments;
    std::unordered_map<std::string_view, Numbers> by_first_argument;
  };

  void Add(uint32_t number, std::string_view program);

  std::vector<Rule> rules_;
  std::deque<std::string> folded_;  // the programs of rules that write them with `.`, `..` or empty components
  std::unordered_map<std::string_view, ProgramRules> by_program_;
};

}  // namespace holdfast::exec_policy
