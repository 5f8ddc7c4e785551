// A small table of commands for the tests of the parser and of the texts that are made from a table.
#pragma once

#include <array>
#include <vector>

#include "cli/table/arguments.h"
#include "cli/table/command.h"
#include "cli/table/command_table.h"

namespace holdfast::cli {

inline std::vector<Command> SampleTable() {
  const auto run = [](const Arguments&) { return 0; };
  return {
      {.name = "run",
       .topic = Topic::kRuns,
       .summary = "Runs it's command.",
       .options =
           {{.flag = "--tty", .letter = "-t", .help = "use a terminal"},
            {.flag = "--detach", .letter = "-d", .help = "leave it running"},
            {.flag = "--cwd", .letter = "-C", .value = "DIR", .help = "where", .completes = Completes::kDirectory},
            {.flag = "--env",
             .letter = "-e",
             .value = "NAME=VALUE",
             .help = "a variable",
             .times = Option::Times::kMany},
            {.flag = "--colour", .value = "WHEN", .help = "colours", .choices = {"always", "never"}},
            {.flag = "--box",
             .value = "BOX",
             .help = "a sandbox",
             .completes = Completes::kFile,
             .suggestions = {"tight", "wide"}},
            {.flag = "--first", .help = "one", .group = "order"},
            {.flag = "--last", .help = "other", .group = "order"},
            {.flag = "--hidden", .value = "X", .shown = Option::Shown::kNo, .values = 2}},
       .arguments = {{.name = "COMMAND",
                      .help = "the program",
                      .count = Argument::Count::kRest,
                      .completes = Completes::kProgram}},
       .examples = {{"holdfast run make", "Builds."}},
       .exit_statuses = {{"125", "holdfast itself failed"}},
       .hints = {{{"-m", "--memory"}, "put a limit in front of the command"}},
       .elsewhere_called = {"exec"},
       .run = run},
      {.name = "send",
       .topic = Topic::kRuns,
       .summary = "Sends text.",
       .options = {{.flag = "--check", .help = "check", .takes = Option::Takes::kToggle}},
       .arguments = {{.name = "NAME", .help = "the run", .completes = Completes::kRun},
                     {.name = "TEXT", .help = "the text", .count = Argument::Count::kOptionalRest}},
       .run = run},
      {.name = "kill",
       .topic = Topic::kRuns,
       .summary = "Sends a signal.",
       .options =
           {{.flag = "--signal", .letter = "-s", .value = "SIGNAL", .help = "which", .completes = Completes::kSignal}},
       .arguments =
           {{.name = "NAME", .help = "the runs", .count = Argument::Count::kMany, .completes = Completes::kRun}},
       .run = run},
      {.name = "show",
       .topic = Topic::kOther,
       .summary = "Shows a page.",
       .arguments =
           {{.name = "WHAT", .help = "what", .count = Argument::Count::kOptional, .choices = {"this", "that"}}},
       .run = run},
      {.name = "invoke",
       .topic = Topic::kOther,
       .summary = "Invokes a method.",
       .arguments = {{.name = "METHOD", .help = "which", .suggestions = {"fs/open", "fs/close", "http/request"}}},
       .run = run},
      {.name = "debug trace",
       .topic = Topic::kOther,
       .summary = "Traces.",
       .options = {{.flag = "--deep", .help = "more"}},
       .run = run},
      {.name = "judge",
       .topic = Topic::kOther,
       .summary = "Judges any words.",
       .options = {{.flag = "--file", .letter = "-f", .value = "FILE", .help = "a file"},
                   {.flag = "--quick", .letter = "-q", .help = "less"}},
       .arguments = {{.name = "WORDS",
                      .help = "the words",
                      .count = Argument::Count::kRest,
                      .begins = Argument::Begins::kAlsoAtUnknownOption}},
       .run = run},
  };
}

// The rows of the same table.
inline constexpr auto kSampleRows = std::to_array<CommandTable::Row>({
    {"run", [] { return SampleTable()[0]; }},
    {"send", [] { return SampleTable()[1]; }},
    {"kill", [] { return SampleTable()[2]; }},
    {"show", [] { return SampleTable()[3]; }},
    {"invoke", [] { return SampleTable()[4]; }},
    {"debug trace", [] { return SampleTable()[5]; }},
    {"judge", [] { return SampleTable()[6]; }},
});

}  // namespace holdfast::cli
