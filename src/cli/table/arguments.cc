#include "cli/table/arguments.h"

namespace holdfast::cli {

bool Arguments::Has(std::string_view name) const {
  const auto value = Value(name);
  return value && *value != "false";
}

std::optional<std::string> Arguments::Value(std::string_view name) const {
  const auto found = values_.find(name);
  if (found == values_.end() || found->second.empty()) return std::nullopt;
  return found->second.back();
}

std::string Arguments::ValueOr(std::string_view name, std::string_view otherwise) const {
  return Value(name).value_or(std::string(otherwise));
}

std::vector<std::string> Arguments::Values(std::string_view name) const {
  const auto found = values_.find(name);
  return found == values_.end() ? std::vector<std::string>() : found->second;
}

}  // namespace holdfast::cli
