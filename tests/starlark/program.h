// Runs Starlark programs for tests. Programs have the host function emit(x), which notes a string, and
// two(first, second=...), which has an optional parameter.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "starlark/description.h"
#include "starlark/run.h"

namespace holdfast::starlark {

struct ProgramRun {
  std::vector<std::string> emitted = {};
  std::vector<Position> positions = {};  // of the calls of emit
  std::optional<Diagnostic> diagnostic = {};

  // The mistake as `line:column: message`, or nothing.
  std::string Mistake() const {
    if (!diagnostic) return "";
    return fmt::format("{}:{}: {}", diagnostic->position.line, diagnostic->position.column, diagnostic->message);
  }
};

inline ProgramRun RunProgram(std::string_view text, const Limits& limits = {}) {
  ProgramRun run;
  const HostFunction emit{.name = "emit", .parameters = {{"x"}}, .call = [&](const HostCall& call) -> Result<> {
                            const auto* const text_value = std::get_if<std::string_view>(&*call.arguments[0]);
                            run.emitted.emplace_back(text_value != nullptr ? *text_value : Shown(*call.arguments[0]));
                            run.positions.push_back(call.position);
                            return {};
                          }};
  const HostFunction two{.name = "two",
                         .parameters = {{"first"}, {"second", Presence::kOptional}},
                         .call = [&](const HostCall& call) -> Result<> {
                           if (!call.arguments[1]) return Fail(ErrorKind::kInvalidParams, "no second argument");
                           run.emitted.push_back(Shown(*call.arguments[0]) + "," + Shown(*call.arguments[1]));
                           return {};
                         }};
  const std::array host = {emit, two};
  if (auto done = Run({.name = "test.rules", .text = text}, host, limits); !done) {
    run.diagnostic = std::move(done).error();
  }
  return run;
}

// Returns the repr of an expression's value, or the message of its mistake.
inline std::string ValueOf(std::string_view expression) {
  const ProgramRun run = RunProgram(fmt::format("emit(repr({}))\n", expression));
  if (run.diagnostic) return run.diagnostic->message;
  return run.emitted.empty() ? "nothing emitted" : run.emitted[0];
}

}  // namespace holdfast::starlark
