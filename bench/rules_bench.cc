// Benchmarks of rules: loading many of them, and one decision beside many of them.
#include <cstddef>
#include <string>
#include <vector>

#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include "base/check.h"
#include "exec_policy/judge.h"
#include "exec_policy/policy.h"

namespace holdfast::exec_policy {
namespace {

// Rules about different programs, each with an example.
std::string RulesWithExamples(size_t count) {
  std::string text;
  for (size_t i = 0; i < count; ++i) {
    text += fmt::format(
        "prefix_rule(pattern=[\"program{}\", [\"status\", \"log\"]], decision=\"prompt\", match=[\"program{} log "
        "-1\"])\n",
        i, i);
  }
  return text;
}

// Rules about one program, as they are appended when a user approves commands.
std::string ApprovedRules(size_t count) {
  std::string text;
  for (size_t i = 0; i < count; ++i) {
    text += fmt::format("prefix_rule(pattern=[\"git\", \"verb{}\"], decision=\"allow\")\n", i);
  }
  return text;
}

Policy Parsed(const std::string& text) {
  const std::vector<RulesText> files = {{"bench.rules", text}};
  auto policy = Policy::Parse(files);
  CHECK(policy.has_value());
  return *std::move(policy);
}

void Load(benchmark::State& state, std::string (*rules)(size_t)) {
  const std::string text = rules(static_cast<size_t>(state.range(0)));
  for (auto _ : state) benchmark::DoNotOptimize(Parsed(text));
}

void JudgeCommand(benchmark::State& state, const std::string& text, const std::string& file, const std::string& verb) {
  const Policy policy = Parsed(text);
  const std::vector<std::string> argv = {file, verb, "--all"};
  for (auto _ : state) {
    benchmark::DoNotOptimize(Judge(policy, {.file = file, .argv = argv, .cwd = "/"}, ProgramNames::kResolvedPath));
  }
}

constexpr size_t kMany = 10'000;

BENCHMARK_CAPTURE(Load, with_examples, RulesWithExamples)->Arg(kMany)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(Load, approved, ApprovedRules)->Arg(kMany)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(JudgeCommand, no_rule, RulesWithExamples(kMany), "/bin/ls", "-l");
BENCHMARK_CAPTURE(JudgeCommand, one_rule, RulesWithExamples(kMany), "/bin/program5000", "log");
BENCHMARK_CAPTURE(JudgeCommand, one_of_the_program, ApprovedRules(kMany), "/usr/bin/git", "verb5000");

}  // namespace
}  // namespace holdfast::exec_policy
