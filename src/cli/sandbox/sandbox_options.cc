#include "cli/sandbox/sandbox_options.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include <fmt/format.h>

namespace holdfast::cli {
namespace {

// The options, without the default of --sandbox.
std::vector<Option> Table() {
  return {
      {.flag = "--sandbox",
       .value = "NAME|FILE",
       .help =
           "read-only: everything may be read and nothing written; workspace-write: the working directory, /tmp and "
           "$TMPDIR may be written too; none; or a file. A file whose name ends in .toml is like that of --config, "
           "any other has a sandbox in JSON, as the protocol has it",
       .completes = Completes::kFile,
       .suggestions = {"read-only", "workspace-write", "none"},
       .group = kSandboxGroup},
      {.flag = "--read-only", .help = "the same as --sandbox read-only", .group = kSandboxGroup},
      {.flag = "--workspace-write",
       .help = "the same as --sandbox workspace-write; the file of --config may have settings for it",
       .group = kSandboxGroup},
      {.flag = "--profile",
       .value = "NAME",
       .help = "a profile of the --config file; without --config: read-only or workspace-write",
       .group = kSandboxGroup},
      {.flag = "--config",
       .value = "TOML",
       .help = "file with profiles, as [permissions.NAME] tables, or with a sandbox_mode; without another option of "
               "these, the one that the file chooses itself",
       .completes = Completes::kFile},
      {.letter = "-w",
       .value = "PATH",
       .help = "another path that may be written; a relative one is below the working directory",
       .completes = Completes::kFile,
       .times = Option::Times::kMany},
      {.flag = "--deny",
       .value = "PATH",
       .help = "a path that may not even be read, or a pattern if it has one of *?[]{}\\; a relative one is below the "
               "working directory",
       .completes = Completes::kFile,
       .times = Option::Times::kMany},
      {.flag = "--network", .help = "the network of the host may be used"},
      {.flag = "--explain", .help = "print what would be enforced, and run nothing"},
  };
}

}  // namespace

std::vector<Option> WithSandboxOptions(std::vector<Option> own, std::string otherwise) {
  std::vector<Option> table = Table();
  table.front().default_value = std::move(otherwise);
  std::ranges::move(table, std::back_inserter(own));
  return own;
}

std::vector<Example> WithSandboxExamples(std::vector<Example> own, const std::string& program,
                                         const std::string& command) {
  const Example examples[] = {
      {"--read-only", "Everything may be read, and nothing written."},
      {"--workspace-write --deny .env", "The working directory may be written, but the file .env in it not read."},
      {"--workspace-write -w ~/.npm --network", "A cache may be written too, and the network be used."},
      {"--config team.toml --profile build", "The profile [permissions.build] of a file holds."},
      {"--sandbox workspace-write", "The same as --workspace-write."},
      {"--sandbox box.json", "The sandbox is in a file, as the protocol has it."},
      {"--workspace-write --explain", "Shows what would be enforced, and runs nothing."},
  };
  for (const auto& [line, meaning] : examples) {
    own.push_back({fmt::format("{} {}{}", program, line, command), meaning});
  }
  return own;
}

bool HasSandboxOptions(const Arguments& arguments) {
  return std::ranges::any_of(Table(), [&](const Option& option) {
    return option.name() != "--explain" && !arguments.Values(option.name()).empty();
  });
}

}  // namespace holdfast::cli
