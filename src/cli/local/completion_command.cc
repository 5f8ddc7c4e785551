#include "cli/local/commands.h"

#include <cstdio>
#include <string>

#include "cli/table/arguments.h"
#include "cli/table/completion.h"

namespace holdfast::cli {
namespace {

std::string ScriptFor(const std::string& shell, std::span<const Command> table) {
  if (shell == "bash") return BashCompletion(table);
  return shell == "zsh" ? ZshCompletion(table) : FishCompletion(table);
}

int PrintScript(const Arguments& arguments) {
  const std::string script = ScriptFor(arguments.ValueOr("SHELL", ""), arguments.table());
  return std::fputs(script.c_str(), stdout) < 0 || std::fflush(stdout) != 0 ? 1 : 0;
}

}  // namespace

Command CompletionCommand() {
  return {
      .name = "completion",
      .topic = Topic::kOther,
      .summary = "Prints a script that lets a shell complete the commands of holdfast.",
      .arguments = {{.name = "SHELL", .help = "the shell: bash, zsh or fish", .choices = {"bash", "zsh", "fish"}}},
      .examples = {{"source <(holdfast completion bash)", "Completes in this bash."},
                   {"holdfast completion zsh > ~/.zfunc/_holdfast",
                    "Installs the script for zsh, if ~/.zfunc is in fpath."},
                   {"holdfast completion fish > ~/.config/fish/completions/holdfast.fish", "Installs it for fish."}},
      .run = PrintScript};
}

}  // namespace holdfast::cli
