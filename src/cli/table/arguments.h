// The command line of one subcommand, after it was parsed: the values of its options and of its arguments by name.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/table/command.h"
#include "cli/table/command_table.h"

namespace holdfast::cli {

class Arguments {
 public:
  // A name is that of an option, such as "--json" or "-C", or that of an argument, such as "COMMAND".
  using ByName = std::map<std::string, std::vector<std::string>, std::less<>>;

  // `command` is one of the table. Both outlive the arguments.
  Arguments(const CommandTable& table, const Command& command, ByName values)
      : table_(table), command_(command), values_(std::move(values)) {}

  std::span<const Command> table() const { return table_.all(); }
  const Command& command() const { return command_; }

  // Returns whether the option is given, and not with the value "false".
  bool Has(std::string_view name) const;
  // Returns the last value; nothing if the option or argument is not given.
  std::optional<std::string> Value(std::string_view name) const;
  // Returns the last value, or `otherwise`.
  std::string ValueOr(std::string_view name, std::string_view otherwise) const;
  std::vector<std::string> Values(std::string_view name) const;

 private:
  const CommandTable& table_;
  const Command& command_;
  ByName values_;
};

}  // namespace holdfast::cli
