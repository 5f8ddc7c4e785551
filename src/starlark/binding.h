// The meaning of a name in a program.
#pragma once

#include <cstdint>
#include <string_view>

#include "starlark/value.h"

namespace holdfast::starlark {

// The variable that a name means in one scope (scopes.h). It is a slot of the frame that lies `hops` frames further
// out, or the value of a predeclared function.
struct Binding {
  std::string_view name;
  uint32_t first_use = 0;  // an offset in the text
  bool assigned = false;   // the scope of this binding assigns the name
  bool crosses_function = false;
  Binding* outer = nullptr;  // of the enclosing scope; null if the scope of this one owns the variable
  int hops = 0, slot = 0;
  const Value* predeclared = nullptr;
};

}  // namespace holdfast::starlark
