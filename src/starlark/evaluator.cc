#include "starlark/evaluator.h"

#include <algorithm>
#include <array>
#include <utility>

#include "starlark/arguments.h"
#include "starlark/compare.h"
#include "starlark/description.h"
#include "starlark/diagnostic.h"
#include "starlark/heap.h"
#include "starlark/iteration.h"
#include "starlark/list.h"
#include "starlark/native.h"
#include "starlark/operators.h"

namespace holdfast::starlark {

Evaluator::Evaluator(Heap& heap, const Limits& limits, std::function<Position(uint32_t offset)> position_of)
    : heap_(heap), levels_left_(limits.depth), position_of_(std::move(position_of)) {
  call_back_ = [this](const Value& function, std::span<const Value> arguments) {
    return Call(function, {.positional = {arguments.begin(), arguments.end()}, .named = {}}, 0);
  };
}

void Evaluator::Blame(uint32_t offset) {
  if (!mistake_offset_) mistake_offset_ = offset;
}

Result<Value> Evaluator::Eval(const Expression& expression) {
  const EvaluationLevel level(levels_left_);
  if (auto entered = level.Enter(heap_); !entered) {
    Blame(expression.offset);
    return std::unexpected(std::move(entered).error());
  }
  auto value = std::visit([&](const auto& node) { return Compute(node, expression.offset); }, expression.node);
  if (!value) Blame(expression.offset);
  return value;
}

Result<std::span<Value>> Evaluator::EvalAll(std::span<const Expression> expressions) {
  TRY(const std::span<Value> values, heap_.NewArray<Value>(expressions.size()));
  for (size_t index = 0; index < values.size(); ++index) {
    TRY(values[index], Eval(expressions[index]));
  }
  return values;
}

Result<Value> Evaluator::Compute(const Literal& literal, uint32_t /*offset*/) { return literal.value; }

std::optional<Value>& Evaluator::SlotOf(const Binding& binding) {
  const Frame* frame = frame_;
  for (int hops = binding.hops; hops > 0; --hops) frame = frame->outer;
  return frame->slots[static_cast<size_t>(binding.slot)];
}

Result<Value> Evaluator::Compute(const Name& name, uint32_t /*offset*/) {
  const Binding& binding = *name.binding;
  if (binding.predeclared != nullptr) return *binding.predeclared;
  const std::optional<Value>& slot = SlotOf(binding);
  if (!slot) return Mistake("the variable `{}` has no value here", binding.name);
  return *slot;
}

Result<Value> Evaluator::Compute(const ListDisplay& display, uint32_t /*offset*/) {
  TRY(const std::span<Value> items, EvalAll(display.items));
  return MakeListOf(heap_, items);
}

Result<Value> Evaluator::Compute(const TupleDisplay& display, uint32_t /*offset*/) {
  TRY(const std::span<Value> items, EvalAll(display.items));
  return heap_.New<const Tuple>(items);
}

Result<Value> Evaluator::Compute(const DictDisplay& display, uint32_t /*offset*/) {
  TRY(Dict* const dict, heap_.New<Dict>());
  for (size_t index = 0; index < display.items.size(); index += 2) {
    TRY(const Value key, Eval(display.items[index]));
    TRY(const Value value, Eval(display.items[index + 1]));
    TRY(const Dict::Entry* const entry, Lookup(heap_, *dict, key));
    if (entry != nullptr) {
      Blame(display.items[index].offset);
      return Mistake("the key {} stands in the dict twice", Shown(key));
    }
    TRY_VOID(Store(heap_, *dict, key, value));
  }
  return dict;
}

Result<Value> Evaluator::Compute(const Comprehension& comprehension, uint32_t /*offset*/) {
  const ComprehensionSyntax& syntax = *comprehension.syntax;
  Value result;
  if (syntax.key == nullptr) {
    TRY(result, heap_.New<List>());
  } else {
    TRY(result, heap_.New<Dict>());
  }
  TRY_VOID(EvalClauses(syntax, syntax.clauses, result));
  return result;
}

// Evaluates the clauses that are left, and adds to the result wherever none is left.
Result<> Evaluator::EvalClauses(const ComprehensionSyntax& syntax, std::span<const Clause> clauses,
                                const Value& result) {
  const EvaluationLevel level(levels_left_);
  TRY_VOID(level.Enter(heap_));
  if (clauses.empty()) {
    if (auto* const list = std::get_if<List*>(&result)) {
      TRY(const Value element, Eval(*syntax.element));
      return (*list)->Append(heap_, element);
    }
    TRY(const Value key, Eval(*syntax.key));
    TRY(const Value element, Eval(*syntax.element));
    return Store(heap_, *std::get<Dict*>(result), key, element);
  }
  const Clause& clause = clauses[0];
  TRY(const Value source, Eval(*clause.source));
  if (clause.target == nullptr) return Truth(source) ? EvalClauses(syntax, clauses.subspan(1), result) : Result<>();
  auto iteration = Iteration::Over(source);
  if (!iteration) Blame(clause.source->offset);
  if (!iteration) return std::unexpected(iteration.error());
  while (const auto item = iteration->Next()) {
    TRY_VOID(heap_.Spend(1));
    TRY_VOID(AssignTo(*clause.target, *item));
    TRY_VOID(EvalClauses(syntax, clauses.subspan(1), result));
  }
  return {};
}

Result<Value> Evaluator::Compute(const Subscript& subscript, uint32_t /*offset*/) {
  TRY(const Value object, Eval(*subscript.object));
  TRY(const Value index, Eval(*subscript.index));
  return ElementOf(heap_, object, index);
}

Result<Value> Evaluator::Compute(const Slice& slice, uint32_t /*offset*/) {
  TRY(const Value object, Eval(*slice.syntax->object));
  const std::array parts = {slice.syntax->begin, slice.syntax->end, slice.syntax->step};
  std::array<Value, 3> bounds;
  for (size_t index = 0; index < parts.size(); ++index) {
    if (parts[index] == nullptr) continue;
    TRY(bounds[index], Eval(*parts[index]));
  }
  return SliceOf(heap_, object, {.begin = bounds[0], .end = bounds[1], .step = bounds[2]});
}

Result<Value> Evaluator::Compute(const Attribute& attribute, uint32_t /*offset*/) {
  TRY(const Value object, Eval(*attribute.object));
  const NativeEntry* const method = FindMethod(object, attribute.name);
  if (method == nullptr) return Mistake("a value of the type {} has no method `{}`", TypeName(object), attribute.name);
  return heap_.New<const Function>(method->name, Native{method->code, object});
}

Result<Value> Evaluator::Compute(const Unary& unary, uint32_t /*offset*/) {
  TRY(const Value operand, Eval(*unary.operand));
  return ApplyUnary(heap_, unary.op, operand);
}

Result<Value> Evaluator::Compute(const Binary& binary, uint32_t /*offset*/) {
  TRY(const Value left, Eval(*binary.left));
  if (binary.op == Operator::kAnd) return Truth(left) ? Eval(*binary.right) : left;
  if (binary.op == Operator::kOr) return Truth(left) ? left : Eval(*binary.right);
  TRY(const Value right, Eval(*binary.right));
  return ApplyBinary(heap_, binary.op, left, right);
}

Result<Value> Evaluator::Compute(const Conditional& conditional, uint32_t /*offset*/) {
  TRY(const Value condition, Eval(*conditional.condition));
  return Eval(Truth(condition) ? *conditional.yes : *conditional.no);
}

Result<Value> Evaluator::Compute(const Lambda& lambda, uint32_t /*offset*/) { return MakeClosure(*lambda.function); }

Result<Value> Evaluator::Compute(const FormatString& format, uint32_t /*offset*/) {
  TextBuilder builder(heap_);
  for (const Expression& part : format.parts) {
    TRY(const Value value, Eval(part));
    TRY(const std::string_view text, Str(heap_, value));
    TRY_VOID(builder.Add(text));
  }
  return builder.Finish();
}

Result<Value> Evaluator::MakeClosure(const FunctionSyntax& syntax) {
  TRY(const auto defaults, heap_.NewArray<std::optional<Value>>(syntax.parameters.size()));
  for (size_t index = 0; index < defaults.size(); ++index) {
    if (syntax.parameters[index].initial == nullptr) continue;
    TRY(defaults[index], Eval(*syntax.parameters[index].initial));
  }
  return heap_.New<const Function>(syntax.name, Closure{.syntax = &syntax, .frame = frame_, .defaults = defaults});
}

Result<CallArguments> Evaluator::EvalArguments(std::span<const Argument> arguments) {
  CallArguments values;
  for (const Argument& argument : arguments) {
    TRY(const Value value, Eval(argument.value));
    switch (argument.kind) {
      case ArgumentKind::kPositional:
        values.positional.push_back(value);
        break;
      case ArgumentKind::kNamed:
        values.named.emplace_back(argument.name, value);
        break;
      case ArgumentKind::kStar: {
        TRY(const auto items, AllItems(heap_, value));
        TRY_VOID(heap_.CheckRoom((values.positional.size() + items.size()) * sizeof(Value)));
        values.positional.insert(values.positional.end(), items.begin(), items.end());
        break;
      }
      case ArgumentKind::kDoubleStar:
        TRY_VOID(AddNamed(values, value));
        break;
    }
  }
  return values;
}

// Adds the entries of a dict to the named arguments.
Result<> Evaluator::AddNamed(CallArguments& values, const Value& dict) {
  const auto* const entries = std::get_if<Dict*>(&dict);
  if (entries == nullptr) return Mistake("`**` needs a dict, not a value of the type {}", TypeName(dict));
  for (const Dict::Entry& entry : (*entries)->entries()) {
    TRY_VOID(heap_.Spend(1));
    if (!entry.live) continue;
    const auto* const name = std::get_if<std::string_view>(&entry.key);
    if (name == nullptr) return Mistake("the name of an argument is a string, not {}", Shown(entry.key));
    values.named.emplace_back(*name, entry.value);
  }
  return {};
}

Result<Value> Evaluator::Compute(const CallExpression& call, uint32_t offset) {
  TRY(const Value callee, Eval(*call.callee));
  TRY(const CallArguments arguments, EvalArguments(call.arguments));
  return Call(callee, arguments, offset);
}

Result<Value> Evaluator::Call(const Value& callee, const CallArguments& arguments, uint32_t offset) {
  const auto* const function = std::get_if<const Function*>(&callee);
  if (function == nullptr) return Mistake("a value of the type {} cannot be called", TypeName(callee));
  const auto& body = (*function)->body;
  if (const auto* const host = std::get_if<const HostFunction*>(&body)) return CallHost(**host, arguments, offset);
  if (const auto* const native = std::get_if<Native>(&body)) {
    return native->code({.heap = heap_,
                         .name = (*function)->name,
                         .self = native->self,
                         .positional = arguments.positional,
                         .named = arguments.named,
                         .call_back = call_back_});
  }
  auto result = CallClosure(std::get<Closure>(body), arguments);
  if (!result) calls_.push_back({(*function)->name, offset});
  return result;
}

Result<Value> Evaluator::CallHost(const HostFunction& function, const CallArguments& arguments, uint32_t offset) {
  constexpr size_t kSteps = 20;  // a call of a host function takes about as long as so many steps
  TRY_VOID(heap_.Spend(kSteps));
  std::vector<std::optional<Value>> places(function.parameters.size());
  TRY_VOID(SortArguments(function.name, arguments.positional, arguments.named, function.parameters, places));
  TRY_VOID(function.call({.arguments = places, .position = position_of_(offset), .budget = heap_.budget()}));
  return None{};
}

Result<Value> Evaluator::CallClosure(const Closure& closure, const CallArguments& arguments) {
  Frame frame_value{.outer = closure.frame};
  TRY(frame_value.slots, heap_.NewArray<std::optional<Value>>(static_cast<size_t>(closure.syntax->slots)));
  TRY(const Frame* const frame, heap_.New<Frame>(frame_value));
  TRY_VOID(BindParameters(heap_, closure, arguments, *frame));
  const Frame* const caller = std::exchange(frame_, frame);
  const auto flow = Execute(closure.syntax->body);
  frame_ = caller;
  if (!flow) return std::unexpected(flow.error());
  return *flow == Flow::kReturn ? std::exchange(returned_, None{}) : None{};
}

}  // namespace holdfast::starlark
