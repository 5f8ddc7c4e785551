// Arguments in the form that execve expects: an array of pointers to strings, with a null pointer behind the last one.
// execve only reads the strings. They belong to the caller, and must not move while this object is in use.
#pragma once

#include <span>
#include <string>
#include <vector>

namespace holdfast::sys {

class Argv {
 public:
  Argv() : Argv(std::span<const std::string>()) {}
  explicit Argv(std::span<const std::string> words) {
    pointers_.reserve(words.size() + 1);
    for (const std::string& word : words) pointers_.push_back(const_cast<char*>(word.c_str()));
    pointers_.push_back(nullptr);
  }

  char** data() { return pointers_.data(); }
  char* const* data() const { return pointers_.data(); }

 private:
  std::vector<char*> pointers_;
};

}  // namespace holdfast::sys
