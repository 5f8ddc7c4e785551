#include "exec_policy/dangerous.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/paths.h"
#include "exec_policy/assignment.h"
#include "exec_policy/option_words.h"
#include "exec_policy/shell_words.h"

namespace holdfast::exec_policy {
namespace {

// Returns the words from the subcommand on.
Words WithoutGlobalOptions(Words words) {
  constexpr std::array<std::string_view, 8> kWithValue = {
      "-C", "-c", "--git-dir", "--work-tree", "--namespace", "--config-env", "--super-prefix", "--attr-source"};
  while (!words.empty() && IsOption(words[0])) {
    const bool takes_value = std::ranges::find(kWithValue, words[0]) != kWithValue.end();
    words = words.subspan(std::min<size_t>(takes_value ? 2 : 1, words.size()));
  }
  return words;
}

bool Deletes(const std::string& word) { return HasLetter(word, "dD") || IsLong(word, "delete"); }
bool Forces(const std::string& word) { return HasLetter(word, "f") || IsLong(word, "force"); }

bool IsDangerousPush(const std::string& word) {
  // A refspec that begins with `+` overwrites, and one that begins with `:` deletes.
  return Forces(word) || HasLetter(word, "d") || IsLong(word, "delete") || IsLong(word, "mirror") ||
         IsLong(word, "prune") || word.starts_with("--force-") || word.starts_with('+') ||
         (word.starts_with(':') && word.size() > 1);
}

// `arguments` are the words behind `git`.
bool IsDangerousGit(Words arguments) {
  const Words words = WithoutGlobalOptions(arguments);
  if (words.empty()) return false;
  const std::string_view subcommand = words[0];
  const Words rest = words.subspan(1);
  if (subcommand == "reset" || subcommand == "rm") return true;
  if (subcommand == "branch") return std::ranges::any_of(OptionsIn(rest), Deletes);
  if (subcommand == "clean") return std::ranges::any_of(OptionsIn(rest), Forces);
  // The refspecs of a push may stand behind `--`.
  if (subcommand == "push") return std::ranges::any_of(rest, IsDangerousPush);
  return false;
}

// A launcher is a program that is written in front of the command which it runs.
struct Launcher {
  std::string_view name;
  std::string_view letters_with_value = {};  // the short options whose value may be the next word
  std::string_view flags_with_value = {};    // the same for long options, each between blanks
  size_t operands = 0;                       // the number of words between the options and the command
};

constexpr std::array kLaunchers = std::to_array<Launcher>({
    {"sudo", "CDghpRrtTUu", " --user --group --host --prompt --chdir --chroot --close-from --command-timeout "},
    {"doas", "Cu"},
    {"env", "uC", " --unset --chdir "},
    {"nohup"},
    {"setsid"},
    {"nice", "n", " --adjustment "},
    {"ionice", "cn", " --class --classdata "},
    {"stdbuf", "ioe", " --input --output --error "},
    {"time", "fo", " --format --output "},
    {"timeout", "ks", " --kill-after --signal ", 1},
    {"xargs", "adEILnPs", " --arg-file --delimiter --max-lines --max-args --max-procs --max-chars "},
    {"command"},
    {"builtin"},
    {"exec", "a"},
    {"busybox"},
});

const Launcher* FindLauncher(std::string_view program) {
  const auto* found = std::ranges::find(kLaunchers, NameOf(program), &Launcher::name);
  return found == kLaunchers.end() ? nullptr : found;
}

// Returns whether the value of an option is the next word.
bool TakesNextWord(const Launcher& launcher, std::string_view word) {
  if (word.starts_with("--")) return launcher.flags_with_value.contains(" " + std::string(word) + " ");
  const size_t letter = word.find_first_of(launcher.letters_with_value, 1);
  return letter != std::string_view::npos && letter + 1 == word.size();
}

// Returns the words behind the options. Words such as `LANG=C` are counted to the options.
Words SkipOptions(const Launcher& launcher, Words words) {
  while (!words.empty() && (IsOption(words[0]) || IsAssignment(words[0]))) {
    if (words[0] == "--") return words.subspan(1);
    const size_t count = IsOption(words[0]) && TakesNextWord(launcher, words[0]) ? 2 : 1;
    words = words.subspan(std::min(count, words.size()));
  }
  return words;
}

bool IsShell(std::string_view program) {
  constexpr std::array<std::string_view, 7> kShells = {"sh", "bash", "dash", "zsh", "ksh", "ash", "mksh"};
  return std::ranges::find(kShells, NameOf(program)) != kShells.end();
}

// Returns the command behind `sudo`, `env`, `nohup` and the like; the command itself if there is none of them.
Words Unwrapped(Words command) {
  while (!command.empty()) {
    const Launcher* launcher = FindLauncher(command[0]);
    if (launcher == nullptr) return command;
    command = SkipOptions(*launcher, command.subspan(1));
    command = command.subspan(std::min(launcher->operands, command.size()));
  }
  return command;
}

// Returns the script of a command such as `bash -lc SCRIPT`.
std::optional<std::string_view> ScriptOf(Words command) {
  if (command.empty() || !IsShell(command[0])) return std::nullopt;
  bool has_script = false;
  for (size_t i = 1; i < command.size(); ++i) {
    const std::string_view word = command[i];
    if (!IsOption(word) && !(word.size() > 1 && word.starts_with('+'))) {
      return has_script ? std::optional(word) : std::nullopt;
    }
    if (word == "--rcfile" || word == "--init-file") ++i;
    if (word.starts_with("--")) continue;
    has_script |= HasLetter(word, "c");
    if (word.find_first_of("oO", 1) != std::string_view::npos) ++i;  // the name of a shell option
  }
  return std::nullopt;
}

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
