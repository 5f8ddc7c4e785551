#include "exec_server/processes/rules_files.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <deque>
#include <new>
#include <utility>

#include <fmt/format.h>

#include "base/file_uri.h"
#include "base/mutex.h"
#include "exec_policy/store/rules_file.h"

namespace holdfast::exec_server {
namespace {

constexpr size_t kMaxPolicies = 16;

using exec_policy::FileState, exec_policy::RulesFile;

std::unexpected<Error> Wrong(const std::string& message) {
  return Fail(ErrorKind::kInvalidParams, "execPolicy.rules: " + message);
}

bool IsOlderThan(std::chrono::nanoseconds age, const FileState& state) {
  const std::chrono::nanoseconds now = std::chrono::system_clock::now().time_since_epoch();
  return std::max(state.modified, state.changed) + age <= now;
}

}  // namespace

// The policies that were parsed, the latest first.
class RulesFiles::Kept {
 public:
  explicit Kept(std::chrono::nanoseconds settle_time) : settle_time_(settle_time) {}

  Result<PolicyPtr> Load(const std::vector<std::string>& paths) {
    std::vector<RulesFile> files;
    std::vector<FileState> states;
    for (const std::string& path : paths) {
      auto file = RulesFile::Open(path);
      if (!file) return Wrong(file.error().message);
      states.push_back(file->state);
      files.push_back(*std::move(file));
    }
    if (PolicyPtr found = Find(states)) return found;
    TRY(PolicyPtr policy, TryParse(files));
    const auto settled = [this](const FileState& state) { return IsOlderThan(settle_time_, state); };
    if (std::ranges::all_of(states, settled)) Keep(std::move(states), policy);
    return policy;
  }

 private:
  struct Entry {
    std::vector<FileState> states;
    PolicyPtr policy;
  };

  // The limits of a policy are far below the memory of a machine, but a server may have less of it left.
  static Result<PolicyPtr> TryParse(const std::vector<RulesFile>& files) {
    try {
      return Parse(files);
    } catch (const std::bad_alloc&) {
      return Wrong("the server has not enough memory for the rules");
    }
  }

  static Result<PolicyPtr> Parse(const std::vector<RulesFile>& files) {
    std::vector<exec_policy::RulesText> texts;
    size_t bytes = 0;
    for (const auto& [fd, state] : files) {
      auto text = exec_policy::ReadText(fd.get(), state.path);
      if (!text) return Wrong(text.error().message);
      bytes += text->size();
      if (bytes > kMaxBytes) return Wrong(fmt::format("the files have more than {} MiB together", kMaxBytes >> 20));
      texts.push_back({.name = state.path, .text = *std::move(text)});
    }
    auto policy = exec_policy::Policy::Parse(texts);
    if (!policy) return Wrong(policy.error().message);
    return std::make_shared<const exec_policy::Policy>(*std::move(policy));
  }

  PolicyPtr Find(const std::vector<FileState>& states) {
    const MutexLock lock(mutex_);
    const auto found = std::ranges::find(entries_, states, &Entry::states);
    return found != entries_.end() ? found->policy : nullptr;
  }

  void Keep(std::vector<FileState> states, PolicyPtr policy) {
    const MutexLock lock(mutex_);
    if (std::ranges::find(entries_, states, &Entry::states) != entries_.end()) return;  // another worker was faster
    entries_.push_front({.states = std::move(states), .policy = std::move(policy)});
    if (entries_.size() > kMaxPolicies) entries_.pop_back();
  }

  const std::chrono::nanoseconds settle_time_;
  Mutex mutex_;
  std::deque<Entry> entries_ GUARDED_BY(mutex_);
};

RulesFiles::RulesFiles(loop::WorkerPool& workers, std::chrono::nanoseconds settle_time)
    : workers_(workers), kept_(std::make_shared<Kept>(settle_time)) {}

loop::Task<Result<RulesFiles::PolicyPtr>> RulesFiles::Load(std::vector<std::string> paths) {
  if (paths.size() > kMaxFiles) co_return Wrong(fmt::format("more than {} files", kMaxFiles));
  for (std::string& path : paths) {
    auto parsed = ParsePath(path);
    if (!parsed) co_return Wrong(parsed.error().message);
    path = *std::move(parsed);
  }
  auto work = [kept = kept_, paths = std::move(paths)] { return kept->Load(paths); };
  co_return co_await workers_.Do(std::move(work));
}

}  // namespace holdfast::exec_server
