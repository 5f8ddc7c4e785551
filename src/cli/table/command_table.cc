#include "cli/table/command_table.h"

#include <algorithm>

#include "base/check.h"

namespace holdfast::cli {
namespace {

Command Make(const CommandTable::Row& row) {
  Command command = row.make();
  CHECK(command.name == row.name);
  return command;
}

}  // namespace

const Command* CommandTable::Find(std::string_view name) const {
  const auto row = std::ranges::find(rows_, name, &Row::name);
  if (row == rows_.end()) return nullptr;
  auto found = found_.find(name);
  if (found == found_.end()) found = found_.emplace(row->name, Make(*row)).first;
  return &found->second;
}

std::span<const Command> CommandTable::all() const {
  if (all_.empty()) {
    all_.reserve(rows_.size());
    for (const Row& row : rows_) all_.push_back(Make(row));
  }
  return all_;
}

}  // namespace holdfast::cli
