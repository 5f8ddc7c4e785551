// The evaluator runs a program that was parsed. It walks the syntax tree; the depth of that walk is limited together
// with that of calls.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "starlark/arguments.h"
#include "starlark/budget.h"
#include "starlark/diagnostic.h"
#include "starlark/function.h"
#include "starlark/heap.h"
#include "starlark/statements.h"
#include "starlark/syntax.h"
#include "starlark/value.h"

namespace holdfast::starlark {

class Evaluator {
 public:
  // `position_of` turns an offset in the text into the position that host functions get.
  Evaluator(Heap& heap, const Limits& limits, std::function<Position(uint32_t offset)> position_of);

  Result<> Run(const Program& program);

  // The place of the mistake that Run has returned, and the calls around it, the innermost first.
  struct CallSite {
    std::string_view function;
    uint32_t offset;
  };
  uint32_t mistake_offset() const { return mistake_offset_.value_or(0); }
  std::span<const CallSite> calls() const { return calls_; }

 private:
  enum class Flow { kNext, kBreak, kContinue, kReturn };
  // Notes the place of a mistake, if no place further inside is noted.
  void Blame(uint32_t offset);

  Result<Flow> Execute(Block block);
  Result<Flow> Execute(const Statement& statement);
  Result<Flow> Do(const Jump& jump);
  Result<Flow> Do(const Evaluate& statement);
  Result<Flow> Do(const Assign& statement);
  Result<Flow> Do(const AugmentedAssign& statement);
  Result<Flow> Do(const If& statement);
  Result<Flow> Do(const For& statement);
  Result<Flow> Do(const Def& statement);
  Result<Flow> Do(const Return& statement);
  Result<> AssignTo(const Expression& target, const Value& value);
  Result<> Unpack(std::span<const Expression> targets, const Value& value);
  Result<Value> Augmented(Operator op, const Value& left, const Value& right);

  Result<Value> Eval(const Expression& expression);
  Result<Value> Compute(const Literal& literal, uint32_t offset);
  Result<Value> Compute(const Name& name, uint32_t offset);
  Result<Value> Compute(const ListDisplay& display, uint32_t offset);
  Result<Value> Compute(const TupleDisplay& display, uint32_t offset);
  Result<Value> Compute(const DictDisplay& display, uint32_t offset);
  Result<Value> Compute(const Comprehension& comprehension, uint32_t offset);
  Result<Value> Compute(const CallExpression& call, uint32_t offset);
  Result<Value> Compute(const Subscript& subscript, uint32_t offset);
  Result<Value> Compute(const Slice& slice, uint32_t offset);
  Result<Value> Compute(const Attribute& attribute, uint32_t offset);
  Result<Value> Compute(const Unary& unary, uint32_t offset);
  Result<Value> Compute(const Binary& binary, uint32_t offset);
  Result<Value> Compute(const Conditional& conditional, uint32_t offset);
  Result<Value> Compute(const Lambda& lambda, uint32_t offset);
  Result<Value> Compute(const FormatString& format, uint32_t offset);
  Result<std::span<Value>> EvalAll(std::span<const Expression> expressions);
  Result<> EvalClauses(const ComprehensionSyntax& syntax, std::span<const Clause> clauses, const Value& result);

  Result<CallArguments> EvalArguments(std::span<const Argument> arguments);
  Result<> AddNamed(CallArguments& values, const Value& dict);
  Result<Value> Call(const Value& callee, const CallArguments& arguments, uint32_t offset);
  Result<Value> CallClosure(const Closure& closure, const CallArguments& arguments);
  Result<Value> CallHost(const HostFunction& function, const CallArguments& arguments, uint32_t offset);
  Result<Value> MakeClosure(const FunctionSyntax& syntax);
  std::optional<Value>& SlotOf(const Binding& binding);

  Heap& heap_;
  int levels_left_;
  std::function<Position(uint32_t offset)> position_of_;
  const Frame* frame_ = nullptr;
  Value returned_ = None{};
  std::function<Result<Value>(const Value& function, std::span<const Value> arguments)> call_back_;
  std::optional<uint32_t> mistake_offset_;
  std::vector<CallSite> calls_;
};

// One level of the evaluator's walk through the syntax tree.
class EvaluationLevel {
 public:
  explicit EvaluationLevel(int& levels_left) : levels_left_(levels_left) { --levels_left_; }
  ~EvaluationLevel() { ++levels_left_; }
  EvaluationLevel(const EvaluationLevel&) = delete;
  EvaluationLevel& operator=(const EvaluationLevel&) = delete;

  // Counts a step, and fails if the walk is too deep.
  Result<> Enter(Heap& heap) const {
    if (levels_left_ < 0) [[unlikely]]
      return TooDeep();
    return heap.Spend(1);
  }

 private:
  static std::unexpected<Error> TooDeep() { return Mistake("the calls and expressions are nested too deeply"); }

  int& levels_left_;
};

}  // namespace holdfast::starlark
