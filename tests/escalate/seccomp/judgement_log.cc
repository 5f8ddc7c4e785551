#include "escalate/seccomp/judgement_log.h"

#include <unistd.h>

#include <cstdlib>
#include <utility>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "support/contents.h"

namespace holdfast::escalate {

std::string BaseName(std::string_view path) { return std::string(path.substr(path.rfind('/') + 1)); }

void JudgementLog::Add(const exec_policy::ExecAttempt& attempt) {
  std::vector<std::string> words(attempt.argv.begin(), attempt.argv.end());
  words.emplace_back(attempt.file);
  const MutexLock lock(mutex_);
  ++by_name_[BaseName(attempt.file)];
  if (std::exchange(thread_, ::gettid()) != ::gettid()) {  // another supervisor than the last time
    judged_twice_ = 0;
    last_.clear();
  }
  if (words == last_) {
    ++judged_twice_;
    last_.clear();
  } else {
    last_ = std::move(words);
  }
}

size_t JudgementLog::of(const std::string& name) const {
  const MutexLock lock(mutex_);
  const auto found = by_name_.find(name);
  return found != by_name_.end() ? found->second : 0;
}

size_t JudgementLog::judged_twice() const {
  const MutexLock lock(mutex_);
  return judged_twice_;
}

size_t JudgementLog::stubs_that_ran() const {
  const MutexLock lock(mutex_);
  const std::string counters = support::Contents(fmt::format("/proc/self/task/{}/io", thread_));
  const size_t at = counters.find("syscw: ");
  EXPECT_NE(at, std::string::npos) << "the thread of the supervisor has ended, or the kernel counts no writes";
  return at == std::string::npos ? 0 : std::strtoul(counters.c_str() + at + 7, nullptr, 10);
}

}  // namespace holdfast::escalate
