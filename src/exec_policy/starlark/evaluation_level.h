// One level of the evaluator's walk through the syntax tree.
#pragma once

#include "base/result.h"
#include "exec_policy/starlark/heap.h"
#include "exec_policy/starlark/mistake.h"

namespace holdfast::exec_policy {

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

}  // namespace holdfast::exec_policy
