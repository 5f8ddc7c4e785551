// The scopes that are open at a place of the text, while it is parsed. A name belongs to a scope if the scope assigns
// it anywhere, also further down, so what a name means is known at the end of its scope.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "starlark/syntax.h"
#include "starlark/tree.h"

namespace holdfast::starlark {

enum class ScopeKind {
  kFunction,  // has its own frame
  kBlock,     // a comprehension, whose variables are in the frame of the function around it
};

class Scopes {
 public:
  struct Scope {
    ScopeKind kind;
    std::unordered_map<std::string_view, Binding*> names = {};
    int slots = 0;
    size_t bindings_before = 0;
  };

  // Opens the scope of the program. The bindings live in the tree.
  explicit Scopes(Tree& tree) : tree_(tree) { Open(ScopeKind::kFunction); }

  void Open(ScopeKind kind) { open_.push_back({.kind = kind, .bindings_before = bindings_.size()}); }

  // Returns the binding of a name in the innermost scope.
  Binding* Use(std::string_view name, uint32_t offset) { return UseIn(open_.back(), name, offset); }

  // Closes the innermost scope, and returns the number of variables of its frame.
  int Close();

  // Closes a scope whose names mean nothing, such as that of a type annotation.
  void Drop();

  // Leaves the innermost scope for a while, and enters it again.
  Scope Suspend();
  void Resume(Scope scope) { open_.push_back(std::move(scope)); }

  // Decides what every name means, when the scope of the program was closed: `predeclared` returns the value of a name
  // that the program does not define, or null. Returns the first binding in the text that has no meaning, or null.
  const Binding* Resolve(const std::function<const Value*(std::string_view)>& predeclared);

 private:
  Binding* UseIn(Scope& scope, std::string_view name, uint32_t offset);

  Tree& tree_;
  std::vector<Scope> open_;
  std::vector<Binding*> bindings_;
};

}  // namespace holdfast::starlark
