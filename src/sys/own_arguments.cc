#include "sys/own_arguments.h"

#include <cstring>
#include <span>

namespace holdfast::sys {
namespace {

std::span<char*> arguments;

}  // namespace

void RememberArguments(int argc, char** argv) { arguments = {argv, static_cast<size_t>(argc)}; }

void HideArguments() {
  if (arguments.empty()) return;
  for (char* const argument : arguments.subspan(1)) std::memset(argument, 0, std::strlen(argument));
}

void HideInArguments(std::string_view word, size_t shown) {
  for (char* const argument : arguments) {
    const size_t length = std::strlen(argument);
    if (!std::string_view(argument, length).ends_with(word)) continue;
    std::memset(argument + length - (word.size() - shown), '*', word.size() - shown);
  }
}

}  // namespace holdfast::sys
