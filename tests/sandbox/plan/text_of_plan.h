// A plan as tests compare it.
#pragma once

#include <string>

#include "base/result.h"
#include "sandbox/plan/plan.h"

namespace holdfast::sandbox {

// Returns the text of a plan, or the reason why there is none, with $D in the place of `directory`.
inline std::string TextOf(const Result<NamespacePlan>& plan, const std::string& directory) {
  std::string text = plan ? Text(*plan) : plan.error().message;
  for (size_t at; (at = text.find(directory)) != std::string::npos;) text.replace(at, directory.size(), "$D");
  return text;
}

}  // namespace holdfast::sandbox
