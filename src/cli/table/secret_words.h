// The words of a command line that other processes must not read.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "cli/table/arguments.h"

namespace holdfast::cli {

struct SecretWord {
  std::string word;
  size_t shown;  // the bytes at its beginning that are not secret

  friend bool operator==(const SecretWord&, const SecretWord&) = default;
};

// Returns the values with a secret that the command line has, as the table marks their options.
std::vector<SecretWord> SecretWordsIn(const Arguments& arguments);

}  // namespace holdfast::cli
