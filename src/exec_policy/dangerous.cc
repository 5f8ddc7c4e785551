#include "exec_policy/dangerous.h"

#include <algorithm>
#include <string_view>
#include <vector>

#include "base/paths.h"
#include "exec_policy/dangerous_git.h"
#include "exec_policy/option_words.h"
#include "exec_policy/shell_words.h"
#include "exec_policy/unwrap.h"

namespace holdfast::exec_policy {
namespace {

constexpr int kMaxDepth = 8;  // of scripts in scripts

// Options may stand behind operands, except where `--` ends them.
bool IsDangerousRm(Words arguments) {
  return std::ranges::any_of(OptionsIn(arguments), [](const std::string& word) {
    return HasLetter(word, "rRf") || IsLong(word, "recursive") || IsLong(word, "force");
  });
}

bool IsDangerousWithin(Words command, int depth);

bool IsDangerousScript(std::string_view script, int depth) {
  if (depth >= kMaxDepth) return true;
  const auto commands = SplitScript(script);
  return commands && std::ranges::any_of(*commands, [depth](const std::vector<std::string>& command) {
           return IsDangerousWithin(command, depth + 1);
         });
}

bool IsDangerousWithin(Words command, int depth) {
  command = Unwrapped(command);
  if (command.empty()) return false;
  const std::string_view program = NameOf(command[0]);
  const Words arguments = command.subspan(1);
  if (program == "rm") return IsDangerousRm(arguments);
  if (program == "git") return IsDangerousGit(arguments);
  const auto script = ScriptOf(command);
  return script && IsDangerousScript(*script, depth);
}

}  // namespace

bool IsDangerous(std::span<const std::string> command) { return IsDangerousWithin(command, 0); }

}  // namespace holdfast::exec_policy
