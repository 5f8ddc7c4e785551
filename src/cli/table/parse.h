// The parser of command lines. It finds the row of the table and reads the options and arguments that the row lists;
// CLI11 stays inside.
#pragma once

#include <cstddef>
#include <expected>
#include <string>
#include <vector>

#include "cli/table/arguments.h"
#include "cli/table/command_table.h"

namespace holdfast::cli {

// A command line that runs no command: it asks for help or for the version, or has a mistake.
struct Answered {
  int status;
  std::string out;  // for standard output
  std::string err;  // one line for standard error
};

// `words` are the arguments of the program without its name. The returned Arguments refer to the table.
std::expected<Arguments, Answered> Parse(const CommandTable& table, const std::vector<std::string>& words);

// The words of a command line that other processes must not read.
struct SecretWord {
  std::string word;
  size_t shown;  // the bytes at its beginning that are not secret

  friend bool operator==(const SecretWord&, const SecretWord&) = default;
};

// Returns the values with a secret that the command line has, as the table marks their options.
std::vector<SecretWord> SecretWordsIn(const Arguments& arguments);

}  // namespace holdfast::cli
