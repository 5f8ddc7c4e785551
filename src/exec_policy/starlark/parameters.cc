#include "exec_policy/starlark/parameters.h"

#include <algorithm>
#include <cstddef>
#include <span>

#include "exec_policy/starlark/compare.h"
#include "exec_policy/starlark/list.h"
#include "exec_policy/starlark/mistake.h"

namespace holdfast::exec_policy {
namespace {

// One call of one function.
class Binder {
 public:
  Binder(Heap& heap, const Closure& closure, const CallArguments& arguments, const Frame& frame)
      : heap_(heap), closure_(closure), arguments_(arguments), frame_(frame) {}

  Result<> Run() {
    TRY_VOID(BindPositional());
    TRY_VOID(BindNamed());
    return BindDefaults();
  }

 private:
  std::string_view name() const { return closure_.syntax->name; }
  std::span<const ParameterSyntax> parameters() const { return closure_.syntax->parameters; }
  std::optional<Value>& SlotOf(const ParameterSyntax& parameter) {
    return frame_.slots[static_cast<size_t>(parameter.variable->slot)];
  }
  const ParameterSyntax* Find(ParameterKind kind) const {
    const auto found = std::ranges::find(parameters(), kind, &ParameterSyntax::kind);
    return found == parameters().end() ? nullptr : &*found;
  }

  Result<> BindPositional() {
    std::span<const Value> rest = arguments_.positional;
    for (const ParameterSyntax& parameter : parameters()) {
      if (parameter.kind != ParameterKind::kPlain || rest.empty()) break;
      SlotOf(parameter) = rest[0];
      rest = rest.subspan(1);
    }
    if (const ParameterSyntax* const all = Find(ParameterKind::kStar)) {
      TRY(SlotOf(*all), MakeTuple(heap_, rest));
    } else if (!rest.empty()) {
      return Mistake("{}() gets {} positional arguments too many", name(), rest.size());
    }
    return {};
  }

  Result<> BindNamed() {
    Dict* others = nullptr;
    if (const ParameterSyntax* const all = Find(ParameterKind::kDoubleStar)) {
      TRY(others, heap_.New<Dict>());
      SlotOf(*all) = others;
    }
    for (const auto& [argument, value] : arguments_.named) {
      TRY_VOID(heap_.Spend(1 + parameters().size() / 16));
      const auto found = std::ranges::find_if(parameters(), [argument](const ParameterSyntax& parameter) {
        return (parameter.kind == ParameterKind::kPlain || parameter.kind == ParameterKind::kNamedOnly) &&
               parameter.variable->name == argument;
      });
      if (found == parameters().end()) {
        if (others == nullptr) return Mistake("{}() has no parameter `{}`", name(), argument);
        TRY_VOID(Store(heap_, *others, argument, value));
        continue;
      }
      if (SlotOf(*found)) return Mistake("{}() gets the argument `{}` twice", name(), argument);
      SlotOf(*found) = value;
    }
    return {};
  }

  Result<> BindDefaults() {
    for (size_t index = 0; index < parameters().size(); ++index) {
      std::optional<Value>& slot = SlotOf(parameters()[index]);
      if (slot) continue;
      slot = closure_.defaults[index];
      if (!slot) return Mistake("{}() needs the argument `{}`", name(), parameters()[index].variable->name);
    }
    return {};
  }

  Heap& heap_;
  const Closure& closure_;
  const CallArguments& arguments_;
  const Frame& frame_;
};

}  // namespace

Result<> BindParameters(Heap& heap, const Closure& closure, const CallArguments& arguments, const Frame& frame) {
  return Binder(heap, closure, arguments, frame).Run();
}

}  // namespace holdfast::exec_policy
