#include "cli/table/parse.h"

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <CLI/Option.hpp>
#include <algorithm>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/shown_text.h"
#include "base/version.h"
#include "cli/table/command.h"
#include "cli/table/help.h"
#include "cli/table/suggestion.h"

namespace holdfast::cli {
namespace {

using Words = std::span<const std::string>;

std::string Joined(const Option& option) {
  if (option.flag.empty() || option.letter.empty()) return option.name();
  return option.letter + "," + option.flag;
}

const Option* FindOption(const Command& command, std::string_view name) {
  const auto found = std::ranges::find_if(
      command.options, [name](const Option& option) { return option.flag == name || option.letter == name; });
  return found == command.options.end() ? nullptr : &*found;
}

// Returns how many words an option takes, with the values that are words of their own. `word` begins with a dash.
size_t WordsOfOption(const Command& command, const std::string& word) {
  const auto words_of = [&](std::string_view name) -> size_t {
    const Option* option = FindOption(command, name);
    return option != nullptr && option->takes == Option::Takes::kValue ? 1 + static_cast<size_t>(option->values) : 1;
  };
  if (word.starts_with("--")) return word.contains('=') ? 1 : words_of(word);
  for (size_t i = 1; i < word.size(); ++i) {
    const size_t count = words_of(std::string{'-', word[i]});
    if (count > 1) return i + 1 == word.size() ? count : count - 1;  // -s KILL, or -sKILL
  }
  return 1;
}

bool AsksForHelp(const std::string& word) { return word == "--help" || word == "-h"; }

// Returns whether a word that begins with a dash is, or begins with, an option of the command.
bool IsOwnOption(const Command& command, const std::string& word) {
  const std::string name = word.starts_with("--") ? word.substr(0, word.find('=')) : word.substr(0, 2);
  return AsksForHelp(word) || FindOption(command, name) != nullptr;
}

// Returns the part of a word which begins with a dash that is no option of the command; empty if there is none.
std::string UnknownPart(const Command& command, const std::string& word) {
  if (word.starts_with("--")) return IsOwnOption(command, word) ? "" : word.substr(0, word.find('='));
  for (const char letter : word.substr(1)) {
    std::string name{'-', letter};
    const Option* const option = FindOption(command, name);
    if (option == nullptr && !AsksForHelp(name)) return name;
    if (option != nullptr && option->takes == Option::Takes::kValue) return {};
  }
  return {};
}

// Returns the first option among the words that the command does not have; empty if it has all of them.
std::string UnknownOption(const Command& command, Words words) {
  for (size_t i = 0; i < words.size() && words[i] != "--";) {
    if (!words[i].starts_with('-')) {
      ++i;
      continue;
    }
    if (std::string unknown = UnknownPart(command, words[i]); !unknown.empty()) return unknown;
    i += WordsOfOption(command, words[i]);
  }
  return {};
}

// Returns the place of the word at which the last argument of the command begins, which takes all words from there on.
// A `--` in front of it is counted to the words before it.
size_t RestBegins(const Command& command, Words words) {
  using enum Argument::Begins;
  const bool at_unknown_option = command.arguments.back().begins == kAlsoAtUnknownOption;
  size_t arguments = 0;
  for (size_t i = 0; i < words.size();) {
    if (words[i] == "--") return i + 1;
    if (words[i].size() > 1 && words[i].starts_with('-')) {
      if (at_unknown_option && !IsOwnOption(command, words[i])) return i;
      i += WordsOfOption(command, words[i]);
    } else if (++arguments == command.arguments.size()) {
      return i;
    } else {
      ++i;
    }
  }
  return words.size();
}

CLI::Option* AddOption(CLI::App& app, const Option& option) {
  if (option.takes != Option::Takes::kValue) return app.add_flag(Joined(option), option.help);
  CLI::Option* added = app.add_option(Joined(option), option.help);
  added->expected(option.values)->allow_extra_args(false);
  if (option.times == Option::Times::kMany) added->take_all();
  return added;
}

CLI::Option* AddArgument(CLI::App& app, const Argument& argument) {
  CLI::Option* added = app.add_option(argument.name, argument.help);
  if (argument.count == Argument::Count::kMany) added->allow_extra_args()->take_all();
  if (argument.count == Argument::Count::kOne || argument.count == Argument::Count::kMany) added->required();
  return added;
}

// Returns whether one of the words may be the option. It may also be a value, or other letters.
bool MayBeAmong(Words words, const Option& option) {
  return std::ranges::any_of(words, [&option](const std::string& word) {
    if (word.starts_with("--")) return !option.flag.empty() && word.starts_with(option.flag);
    return word.starts_with('-') && !option.letter.empty() && word.contains(option.letter.back());
  });
}

// The CLI11 parser of one command. It has only the options that the words may name: CLI11 compares each option that is
// added with all others, which takes as long as the rest of the start for a command with many options.
class Parser {
 public:
  Parser(const Command& command, Words words) : app_("", "holdfast " + command.name) {
    app_.set_help_flag();
    app_.allow_extras();
    for (const Option& option : command.options) {
      if (MayBeAmong(words, option)) options_.emplace_back(option.name(), AddOption(app_, option));
    }
    const size_t count = command.arguments.size() - (HasRest(command) ? 1 : 0);
    for (const Argument& argument : std::span(command.arguments).first(count)) {
      options_.emplace_back(argument.name, AddArgument(app_, argument));
    }
  }

  // CLI11 throws its errors, which derive from CLI::ParseError.
  Arguments::ByName Parse(Words words) {
    std::vector<std::string> reversed(words.rbegin(), words.rend());
    app_.parse(reversed);
    Arguments::ByName values;
    for (const auto& [name, option] : options_) {
      if (!option->empty()) values[name] = option->results();
    }
    return values;
  }

  // Returns the words that are neither options nor arguments.
  std::vector<std::string> Surplus() const {
    std::vector<std::string> words = app_.remaining();
    std::erase(words, "--");  // CLI11 counts the end of the options among them
    return words;
  }

 private:
  CLI::App app_;
  std::vector<std::pair<std::string, CLI::Option*>> options_;
};

std::unexpected<Answered> Mistake(std::string_view command, std::string_view reason) {
  const std::string program = command.empty() ? "holdfast" : fmt::format("holdfast {}", command);
  const std::string line = ShownText(reason.substr(0, reason.find('\n')));  // it may have a word of the command line
  return std::unexpected(Answered{kWrongUse, {}, fmt::format("{}: {}; see {} --help\n", program, line, program)});
}

// The sentences of CLI11 speak of its options and counts, and not of what a user has typed.
std::string MistakeText(const CLI::ArgumentMismatch& error) {
  const std::string_view text = error.what();
  const std::string_view name = text.substr(0, text.find(':'));
  return fmt::format("{} {}", name, text.ends_with("missing") ? "needs a value" : "may be given once");
}

// Returns which two options exclude each other; empty if none of those that are given do.
std::string Contradiction(const Command& command, const Arguments::ByName& values) {
  std::map<std::string, std::string> first_of;
  for (const Option& option : command.options) {
    if (option.group.empty() || !values.contains(option.name())) continue;
    const auto [first, is_first] = first_of.try_emplace(option.group, option.name());
    if (!is_first) return fmt::format("{} and {} exclude each other", first->second, option.name());
  }
  return {};
}

// Returns what is wrong with a value; empty if nothing is.
std::string BadChoice(const std::string& name, const std::vector<std::string>& choices,
                      const Arguments::ByName& values) {
  const auto given = values.find(name);
  if (choices.empty() || given == values.end()) return {};
  for (const std::string& value : given->second) {
    if (std::ranges::find(choices, value) != choices.end()) continue;
    return fmt::format("{}: \"{}\" is not one of {}", name, value, fmt::join(choices, "|"));
  }
  return {};
}

std::string BadChoice(const Command& command, const Arguments::ByName& values) {
  for (const Option& option : command.options) {
    if (std::string bad = BadChoice(option.name(), option.choices, values); !bad.empty()) return bad;
  }
  for (const Argument& argument : command.arguments) {
    if (std::string bad = BadChoice(argument.name, argument.choices, values); !bad.empty()) return bad;
  }
  return {};
}

std::expected<Arguments, Answered> ParseCommand(const CommandTable& table, const Command& command, Words words) {
  const size_t begin = HasRest(command) ? RestBegins(command, words) : words.size();
  const Words own = words.first(begin), rest = words.subspan(begin);
  const auto options_end = std::ranges::find(own, "--");
  if (std::find_if(own.begin(), options_end, AsksForHelp) != options_end) {
    return std::unexpected(Answered{0, HelpOf(command), {}});
  }
  if (const std::string unknown = UnknownOption(command, own); !unknown.empty()) {
    return Mistake(command.name, UnknownOptionText(command, unknown));
  }
  try {
    Parser parser(command, own);
    Arguments::ByName values = parser.Parse(own);
    if (const auto surplus = parser.Surplus(); !surplus.empty()) {
      return Mistake(command.name, fmt::format("too many words: {}", fmt::join(surplus, " ")));
    }
    if (HasRest(command)) {
      const Argument& last = command.arguments.back();
      if (rest.empty() && last.count == Argument::Count::kRest) {
        return Mistake(command.name, fmt::format("{} is required", last.name));
      }
      values[last.name].assign(rest.begin(), rest.end());
    }
    if (const std::string bad = BadChoice(command, values); !bad.empty()) return Mistake(command.name, bad);
    if (const std::string bad = Contradiction(command, values); !bad.empty()) return Mistake(command.name, bad);
    return Arguments(table, command, std::move(values));
  } catch (const CLI::ArgumentMismatch& error) {
    return Mistake(command.name, MistakeText(error));
  } catch (const CLI::ParseError& error) {
    return Mistake(command.name, error.what());
  }
}

// Returns the command that the first words name, and how many words its name has.
std::pair<const Command*, size_t> FindCommand(const CommandTable& table, Words words) {
  for (size_t count = std::min<size_t>(2, words.size()); count > 0; --count) {
    const std::string name = count == 2 ? words[0] + " " + words[1] : words[0];
    if (const Command* const found = table.Find(name)) return {found, count};
  }
  return {nullptr, 0};
}

// Returns the length of `ws://HOST:PORT/`; that of the whole URL if there is nothing behind it, or if its path is no
// secret.
size_t LengthWithoutSecret(const std::string& url) {
  if (!url.starts_with("ws://") && !url.starts_with("wss://")) return url.size();
  const size_t path = url.find('/', url.find("://") + 3);
  return path == std::string::npos ? url.size() : path + 1;
}

}  // namespace

std::expected<Arguments, Answered> Parse(const CommandTable& table, const std::vector<std::string>& words) {
  if (words.empty() || AsksForHelp(words[0])) return std::unexpected(Answered{0, HelpOf(table.all()), {}});
  if (words[0] == "--version") return std::unexpected(Answered{0, fmt::format("holdfast {}\n", kVersion), {}});
  const auto [command, count] = FindCommand(table, words);
  if (command != nullptr) return ParseCommand(table, *command, Words(words).subspan(count));
  const std::string family = FamilyHelp(table.all(), words[0]);
  if (family.empty()) return Mistake("", UnknownCommandText(table.all(), words[0]));
  if (words.size() == 1) return Mistake(words[0], "a subcommand is required");
  if (AsksForHelp(words[1])) return std::unexpected(Answered{0, family, {}});
  return Mistake(words[0], UnknownCommandText(table.all(), words[0] + " " + words[1]));
}

std::vector<SecretWord> SecretWordsIn(const Arguments& arguments) {
  std::vector<SecretWord> found;
  for (const Option& option : arguments.command().options) {
    if (option.secret == Option::Secret::kNothing) continue;
    for (const std::string& url : arguments.Values(option.name())) {
      if (const size_t shown = LengthWithoutSecret(url); shown < url.size()) found.push_back({url, shown});
    }
  }
  return found;
}

}  // namespace holdfast::cli
