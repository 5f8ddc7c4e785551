// The table of commands. Each row is made when it is asked for, because a command line needs one of them only.
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/table/command.h"

namespace holdfast::cli {

class CommandTable {
 public:
  struct Row {
    std::string_view name;  // that of the command
    Command (*make)();
  };

  // `rows` outlives the table.
  explicit CommandTable(std::span<const Row> rows) : rows_(rows) {}
  CommandTable(const CommandTable&) = delete;
  CommandTable& operator=(const CommandTable&) = delete;

  // Returns the command of that name, or null.
  const Command* Find(std::string_view name) const;

  // Returns all commands, in the order of the rows.
  std::span<const Command> all() const;

 private:
  const std::span<const Row> rows_;
  mutable std::map<std::string_view, Command> found_;
  mutable std::vector<Command> all_;
};

}  // namespace holdfast::cli
