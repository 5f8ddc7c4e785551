#include "exec_policy/evaluation.h"

#include <utility>

namespace holdfast::exec_policy {

std::string_view WordOf(Decision decision) {
  switch (decision) {
    case Decision::kAllow:
      return "allow";
    case Decision::kPrompt:
      return "prompt";
    case Decision::kForbidden:
      return "forbidden";
  }
  std::unreachable();
}

}  // namespace holdfast::exec_policy
