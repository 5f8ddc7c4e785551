#include "starlark/scopes.h"

#include <algorithm>
#include <ranges>

#include "base/check.h"

namespace holdfast::starlark {

Binding* Scopes::UseIn(Scope& scope, std::string_view name, uint32_t offset) {
  Binding*& binding = scope.names[name];
  if (binding == nullptr) {
    binding = tree_.Make(Binding{.name = name, .first_use = offset});
    bindings_.push_back(binding);
  }
  return binding;
}

Scopes::Scope Scopes::Suspend() {
  Scope scope = std::move(open_.back());
  open_.pop_back();
  return scope;
}

void Scopes::Drop() {
  bindings_.resize(open_.back().bindings_before);
  open_.pop_back();
}

int Scopes::Close() {
  const Scope scope = Suspend();
  const auto frame = std::ranges::find(open_ | std::views::reverse, ScopeKind::kFunction, &Scope::kind);
  int slots = scope.slots;
  int& next_slot = scope.kind == ScopeKind::kFunction ? slots : frame->slots;
  for (const auto& [name, binding] : scope.names) {
    if (binding->assigned) {
      binding->slot = next_slot++;
    } else if (!open_.empty()) {
      binding->outer = UseIn(open_.back(), name, binding->first_use);
      binding->crosses_function = scope.kind == ScopeKind::kFunction;
    }
  }
  return slots;
}

const Binding* Scopes::Resolve(const std::function<const Value*(std::string_view)>& predeclared) {
  CHECK(open_.empty());
  const Binding* unknown = nullptr;
  for (Binding* const binding : bindings_) {
    const Binding* owner = binding;
    for (; owner->outer != nullptr; owner = owner->outer) binding->hops += owner->crosses_function ? 1 : 0;
    binding->slot = owner->slot;
    if (owner->assigned) continue;
    binding->predeclared = predeclared(binding->name);
    if (binding->predeclared != nullptr) continue;
    if (unknown == nullptr || binding->first_use < unknown->first_use) unknown = binding;
  }
  return unknown;
}

}  // namespace holdfast::starlark
