#include "process/command/command.h"

#include <utility>

namespace holdfast::process {
namespace {

// The directories that the C library searches if there is no PATH.
constexpr std::string_view kDefaultSearchPath = "/bin:/usr/bin";

// An empty PATH means the working directory. In the syntax of a search path that is ":", which has two empty elements.
std::string SearchPath(std::optional<std::string_view> path) {
  const std::string_view searched = path.value_or(kDefaultSearchPath);
  return std::string(searched.empty() ? ":" : searched);
}

}  // namespace

Command MakeCommand(CommandText text, std::optional<std::string_view> path) {
  Command command;
  command.argv = std::move(text.words);
  command.program = text.program ? *std::move(text.program) : command.argv[0];
  if (!text.program && !command.program.contains('/')) command.search_path = SearchPath(path);
  if (text.arg0) command.argv[0] = *std::move(text.arg0);
  return command;
}

CommandText TextOf(const Command& command) {
  CommandText text{.words = command.argv};
  const bool is_found = command.search_path || command.program.contains('/');
  text.words[0] = is_found ? command.program : "./" + command.program;
  if (text.words[0] != command.argv[0]) text.arg0 = command.argv[0];
  return text;
}

}  // namespace holdfast::process
