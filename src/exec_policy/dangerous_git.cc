#include "exec_policy/dangerous_git.h"

#include <algorithm>
#include <array>

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

}  // namespace

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

}  // namespace holdfast::exec_policy
