// The part of the evaluator that executes statements.
#include "starlark/compare.h"
#include "starlark/description.h"
#include "starlark/diagnostic.h"
#include "starlark/evaluator.h"
#include "starlark/iteration.h"
#include "starlark/list.h"
#include "starlark/operators.h"

namespace holdfast::starlark {

Result<> Evaluator::Run(const Program& program) {
  Frame globals;
  TRY(globals.slots, heap_.NewArray<std::optional<Value>>(static_cast<size_t>(program.slots)));
  // Functions refer to the frame until the end of the run, which is the end of this function.
  frame_ = &globals;
  TRY_VOID(Execute(program.body));
  return {};
}

Result<Evaluator::Flow> Evaluator::Execute(Block block) {
  for (const Statement& statement : block) {
    TRY(const Flow flow, Execute(statement));
    if (flow != Flow::kNext) return flow;
  }
  return Flow::kNext;
}

Result<Evaluator::Flow> Evaluator::Execute(const Statement& statement) {
  const EvaluationLevel level(levels_left_);
  const auto entered = level.Enter(heap_);
  auto flow = entered ? std::visit([this](const auto& node) { return Do(node); }, statement.node)
                      : Result<Flow>(std::unexpected(entered.error()));
  if (!flow) Blame(statement.offset);
  return flow;
}

Result<Evaluator::Flow> Evaluator::Do(const Jump& jump) {
  if (jump == Jump::kPass) return Flow::kNext;
  return jump == Jump::kBreak ? Flow::kBreak : Flow::kContinue;
}

Result<Evaluator::Flow> Evaluator::Do(const Evaluate& statement) {
  TRY_VOID(Eval(statement.value));
  return Flow::kNext;
}

Result<Evaluator::Flow> Evaluator::Do(const Assign& statement) {
  TRY(const Value value, Eval(*statement.value));
  TRY_VOID(AssignTo(*statement.target, value));
  return Flow::kNext;
}

Result<> Evaluator::AssignTo(const Expression& target, const Value& value) {
  if (const auto* const name = std::get_if<Name>(&target.node)) {
    SlotOf(*name->binding) = value;
    return {};
  }
  Result<> done;
  if (const auto* const subscript = std::get_if<Subscript>(&target.node)) {
    TRY(const Value object, Eval(*subscript->object));
    TRY(const Value index, Eval(*subscript->index));
    done = SetElement(heap_, object, index, value);
  } else if (const auto* const list = std::get_if<ListDisplay>(&target.node)) {
    done = Unpack(list->items, value);
  } else {
    done = Unpack(std::get<TupleDisplay>(target.node).items, value);
  }
  if (!done) Blame(target.offset);
  return done;
}

Result<> Evaluator::Unpack(std::span<const Expression> targets, const Value& value) {
  TRY(const auto items, AllItems(heap_, value));
  if (items.size() != targets.size()) {
    return Mistake("{} values for {} variables", items.size(), targets.size());
  }
  for (size_t index = 0; index < targets.size(); ++index) TRY_VOID(AssignTo(targets[index], items[index]));
  return {};
}

Result<Evaluator::Flow> Evaluator::Do(const AugmentedAssign& statement) {
  if (const auto* const subscript = std::get_if<Subscript>(&statement.target->node)) {
    // The object and the index are evaluated once.
    TRY(const Value object, Eval(*subscript->object));
    TRY(const Value index, Eval(*subscript->index));
    TRY(const Value old, ElementOf(heap_, object, index));
    TRY(const Value operand, Eval(*statement.value));
    TRY(const Value value, Augmented(statement.op, old, operand));
    TRY_VOID(SetElement(heap_, object, index, value));
    return Flow::kNext;
  }
  TRY(const Value old, Eval(*statement.target));
  TRY(const Value operand, Eval(*statement.value));
  TRY(const Value value, Augmented(statement.op, old, operand));
  TRY_VOID(AssignTo(*statement.target, value));
  return Flow::kNext;
}

// Applies an operator; `+=` changes a list and `|=` a dict instead of making another one.
Result<Value> Evaluator::Augmented(Operator op, const Value& left, const Value& right) {
  if (const auto* const list = std::get_if<List*>(&left); list != nullptr && op == Operator::kAdd) {
    TRY_VOID((*list)->CheckChangeable());
    TRY(const auto items, AllItems(heap_, right));
    TRY_VOID((*list)->Extend(heap_, items));
    return left;
  }
  const auto* const dict = std::get_if<Dict*>(&left);
  const auto* const more = std::get_if<Dict*>(&right);
  if (dict == nullptr || more == nullptr || op != Operator::kBitOr) return ApplyBinary(heap_, op, left, right);
  if (*dict == *more) return left;
  for (const Dict::Entry& entry : (*more)->entries()) {
    if (entry.live) TRY_VOID(Store(heap_, **dict, entry.key, entry.value));
  }
  return left;
}

Result<Evaluator::Flow> Evaluator::Do(const If& statement) {
  for (const Branch& branch : statement.branches) {
    if (branch.condition != nullptr) {
      TRY(const Value condition, Eval(*branch.condition));
      if (!Truth(condition)) continue;
    }
    return Execute(branch.body);
  }
  return Flow::kNext;
}

Result<Evaluator::Flow> Evaluator::Do(const For& statement) {
  TRY(const Value source, Eval(*statement.source));
  auto iteration = Iteration::Over(source);
  if (!iteration) Blame(statement.source->offset);
  if (!iteration) return std::unexpected(iteration.error());
  while (const auto item = iteration->Next()) {
    TRY_VOID(heap_.Spend(1));
    TRY_VOID(AssignTo(*statement.target, *item));
    TRY(const Flow flow, Execute(statement.body));
    if (flow == Flow::kBreak) break;
    if (flow == Flow::kReturn) return flow;
  }
  return Flow::kNext;
}

Result<Evaluator::Flow> Evaluator::Do(const Def& statement) {
  TRY(SlotOf(*statement.name), MakeClosure(*statement.function));
  return Flow::kNext;
}

Result<Evaluator::Flow> Evaluator::Do(const Return& statement) {
  Value value;
  if (statement.value != nullptr) {
    TRY(value, Eval(*statement.value));
  }
  returned_ = value;
  return Flow::kReturn;
}

}  // namespace holdfast::starlark
