#include "remote/retry.h"

#include <algorithm>
#include <utility>

namespace holdfast::remote {

Verdict Judge(const RegistryFailure& failure, const std::optional<Registration>& before) {
  const bool may_return = before && before->connections == Connections::kMany;
  return may_return && failure.kind == RegistryFailure::Kind::kUnavailable ? Verdict::kRetry : Verdict::kFatal;
}

Verdict JudgeConnect(Form form, std::optional<unsigned> status) {
  if (form == Form::kExecutor) return Verdict::kRetry;  // it registers again in any case
  if (status == 403u) return Verdict::kFatal;
  return status == 401u ? Verdict::kRegisterAgain : Verdict::kRetry;
}

std::chrono::milliseconds BackOff::Next(uint64_t random) {
  const auto pause = std::exchange(pause_, std::min(2 * pause_, kLongest));
  if (form_ == Form::kExecutor) return pause;
  const uint64_t half = static_cast<uint64_t>(pause.count()) / 2;
  return std::chrono::milliseconds(half + random % (half + 1));
}

}  // namespace holdfast::remote
