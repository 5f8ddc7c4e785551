// NotStarted is the answer of a backend that has started no command.
#pragma once

#include <utility>

#include "base/result.h"

namespace holdfast::sandbox {

// The reason why no command has been started. kBackend means that the backend has failed: the error has its message and
// what is known of the cause, which may be the machine or a path; a trial without any path of the plan tells which.
// kRefused means that something is not as the plan has it, and that it would be wrong to go on with less.
//
// An error of the kind kNotFound means that a file is not where the plan has it, or that another file is there. Another
// process has removed or replaced it since the plan was made. A plan that is made anew may succeed.
struct NotStarted {
  enum class By { kBackend, kRefused };

  // The constructor is implicit, because every other error on the way is a refusal.
  NotStarted(Error why, By cause = By::kRefused)  // NOLINT(google-explicit-constructor)
      : error(std::move(why)), by(cause) {}

  Error error;
  By by;
};

}  // namespace holdfast::sandbox
