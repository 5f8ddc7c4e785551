// The keys by which a user gets out of a remote terminal. The escape key, which is Ctrl-] unless the user chooses
// another one, is followed by a letter: d detaches, z stops this program, and the escape key itself is passed on. It is
// a state machine without I/O.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace holdfast::cli {

class EscapeKeys {
 public:
  enum class Action { kDetach, kStop };

  struct Typed {
    std::string bytes;  // for the remote terminal
    std::optional<Action> action;
    std::string_view rest;  // the bytes behind the action, which the caller passes in again
  };

  // Parses the name of a key: "ctrl-]", "^]", or "none". With "none" no key is special.
  static Result<EscapeKeys> Parse(std::string_view key);

  Typed Take(std::string_view bytes);

 private:
  explicit EscapeKeys(std::optional<char> escape) : escape_(escape) {}

  std::optional<char> escape_;
  bool escaped_ = false;  // the escape key was the last one
};

}  // namespace holdfast::cli
