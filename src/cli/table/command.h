// The types of the table of commands. One row describes a subcommand of `holdfast` completely: the parser, the help,
// the completion scripts and the man pages are all made from it, so that none of them can lack an option.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

namespace holdfast::cli {

class Arguments;
struct Command;

// The kind of words that a shell offers where a value is expected.
enum class Completes { kNothing, kFile, kDirectory, kProgram, kRun, kSignal, kCommandName };

struct Option {
  enum class Times { kOnce, kMany };
  enum class Shown { kYes, kNo };
  // kToggle: the option takes no value, or `=true` or `=false`.
  enum class Takes { kNothing, kValue, kToggle };
  // kPathOfUrl: the value is a URL, and in a ws:// or wss:// URL the path is a secret, which lets its reader run
  // commands.
  enum class Secret { kNothing, kPathOfUrl };

  std::string flag = {};    // such as "--timeout"; may be empty if there is a letter
  std::string letter = {};  // such as "-t"
  std::string value = {};   // the name of the value in the help, such as "TIME"; empty if the option takes none
  std::string help = {};
  Takes takes = value.empty() ? Takes::kNothing : Takes::kValue;
  Completes completes = Completes::kNothing;
  std::vector<std::string> choices = {};  // every possible value; empty if any text is possible
  // Values that are offered beside the words of `completes`, where others are possible too.
  std::vector<std::string> suggestions = {};
  std::string default_value = {};
  Times times = Times::kOnce;
  std::string group = {};  // of the options of one group, a command line may have at most one
  Shown shown = Shown::kYes;
  int values = 1;  // the number of words that follow the option
  Secret secret = Secret::kNothing;

  // The name under which Arguments has the option: its flag, or else its letter.
  const std::string& name() const { return flag.empty() ? letter : flag; }
};

struct Argument {
  // kRest: the argument takes all words from its place on, including those that look like options.
  enum class Count { kOne, kOptional, kMany, kRest, kOptionalRest };
  // kAlsoAtUnknownOption: a rest also begins at a word that looks like an option, but is none of the command's own.
  enum class Begins { kAtFirstPlainWord, kAlsoAtUnknownOption };

  std::string name;  // such as "COMMAND"
  std::string help;
  Count count = Count::kOne;
  Completes completes = Completes::kNothing;
  std::vector<std::string> choices = {};
  std::vector<std::string> suggestions = {};  // as in Option
  Begins begins = Begins::kAtFirstPlainWord;
};

// What the user of another program can do here instead of an option that this command does not have.
struct Hint {
  std::vector<std::string> options;  // such as "--rm" or "-m"
  std::string advice;
};

struct Example {
  std::string line;
  std::string meaning;
};

struct ExitStatus {
  std::string code;  // such as "124" or "128+N"
  std::string meaning;
};

// The exit status of every command after a mistake in the command line.
inline constexpr int kWrongUse = 2;

// The headings under which `holdfast --help` lists the commands, in their order.
enum class Topic { kRuns, kFiles, kServers, kOther };

struct Command {
  std::string name;  // one word, or two for a command of a family, such as "debug landlock"
  Topic topic;
  std::string summary;           // one sentence
  std::string description = {};  // further paragraphs, separated by empty lines
  std::vector<Option> options = {};
  std::vector<Argument> arguments = {};
  std::vector<Example> examples = {};
  std::vector<ExitStatus> exit_statuses = {};
  std::vector<Hint> hints = {};
  std::vector<std::string> elsewhere_called = {};  // the names of such a command in other programs
  // Runs the command and returns the exit status.
  std::function<int(const Arguments&)> run;
};

// Returns the words of a synopsis, such as "holdfast run [OPTIONS] [--] COMMAND...".
std::string Synopsis(const Command& command);
// Returns an option as the help shows it, such as "-s, --signal SIGNAL".
std::string Heading(const Option& option);
// Returns the help with the choices and the default appended.
std::string Explanation(const Option& option);

bool HasRest(const Command& command);

}  // namespace holdfast::cli
