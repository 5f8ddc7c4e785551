#include "exec_server/processes/rules_files.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <ctime>
#include <deque>
#include <mutex>
#include <utility>

#include <fmt/format.h>

#include "base/file_uri.h"
#include "base/owned_fd.h"
#include "sys/file_identity.h"
#include "sys/io.h"
#include "sys/open.h"

namespace holdfast::exec_server {
namespace {

constexpr size_t kMaxPolicies = 16;

struct FileState {
  std::string path;
  sys::FileIdentity identity;
  int64_t size = 0;
  std::chrono::nanoseconds modified{}, changed{};

  friend bool operator==(const FileState&, const FileState&) = default;
};

std::chrono::nanoseconds TimeOf(const timespec& time) {
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

std::unexpected<Error> Wrong(std::string message) { return Fail(ErrorKind::kInvalidParams, std::move(message)); }

struct OpenRules {
  OwnedFd file;
  FileState state;
};

// Opens a rules file, which must be a regular one: a FIFO would make the worker wait.
Result<OpenRules> Open(const std::string& path) {
  auto file = sys::OpenAt(AT_FDCWD, path, O_RDONLY | O_NONBLOCK, sys::Links::kFollow);
  if (!file) return Wrong("execPolicy.rules: " + file.error().message);
  struct stat status;
  if (::fstat(file->get(), &status) < 0) return Wrong("execPolicy.rules: " + ErrnoError("fstat", path, errno).message);
  if (!S_ISREG(status.st_mode)) return Wrong(fmt::format("execPolicy.rules: {}: not a regular file", path));
  FileState state{.path = path,
                  .identity = sys::FileIdentity::Of(status),
                  .size = status.st_size,
                  .modified = TimeOf(status.st_mtim),
                  .changed = TimeOf(status.st_ctim)};
  return OpenRules{.file = *std::move(file), .state = std::move(state)};
}

Result<std::string> ReadAll(const OpenRules& rules, size_t limit) {
  std::string text;
  for (;;) {
    char buffer[64 << 10];
    const ssize_t size = sys::Read(rules.file.get(), buffer, sizeof buffer);
    if (size < 0) {
      return Wrong("execPolicy.rules: " + ErrnoError("read", rules.state.path, static_cast<int>(-size)).message);
    }
    if (size == 0) return text;
    text.append(buffer, static_cast<size_t>(size));
    if (text.size() > limit) {
      return Wrong(fmt::format("execPolicy.rules: the files have more than {} bytes", RulesFiles::kMaxBytes));
    }
  }
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
    std::vector<OpenRules> files;
    std::vector<FileState> states;
    for (const std::string& path : paths) {
      TRY(OpenRules rules, Open(path));
      states.push_back(rules.state);
      files.push_back(std::move(rules));
    }
    if (PolicyPtr found = Find(states)) return found;
    TRY(PolicyPtr policy, Parse(files));
    const auto settled = [this](const FileState& state) { return IsOlderThan(settle_time_, state); };
    if (std::ranges::all_of(states, settled)) Keep(std::move(states), policy);
    return policy;
  }

 private:
  struct Entry {
    std::vector<FileState> states;
    PolicyPtr policy;
  };

  static Result<PolicyPtr> Parse(const std::vector<OpenRules>& files) {
    std::vector<exec_policy::RulesText> texts;
    size_t left = kMaxBytes;
    for (const OpenRules& rules : files) {
      TRY(std::string text, ReadAll(rules, left));
      left -= text.size();
      texts.push_back({.name = rules.state.path, .text = std::move(text)});
    }
    auto policy = exec_policy::Policy::Parse(texts);
    if (!policy) return Wrong("execPolicy.rules: " + policy.error().message);
    return std::make_shared<const exec_policy::Policy>(*std::move(policy));
  }

  PolicyPtr Find(const std::vector<FileState>& states) {
    const std::lock_guard lock(mutex_);
    const auto found = std::ranges::find(entries_, states, &Entry::states);
    return found != entries_.end() ? found->policy : nullptr;
  }

  void Keep(std::vector<FileState> states, PolicyPtr policy) {
    const std::lock_guard lock(mutex_);
    if (std::ranges::find(entries_, states, &Entry::states) != entries_.end()) return;  // another worker was faster
    entries_.push_front({.states = std::move(states), .policy = std::move(policy)});
    if (entries_.size() > kMaxPolicies) entries_.pop_back();
  }

  const std::chrono::nanoseconds settle_time_;
  std::mutex mutex_;
  std::deque<Entry> entries_;
};

RulesFiles::RulesFiles(loop::WorkerPool& workers, std::chrono::nanoseconds settle_time)
    : workers_(workers), kept_(std::make_shared<Kept>(settle_time)) {}

loop::Task<Result<RulesFiles::PolicyPtr>> RulesFiles::Load(std::vector<std::string> paths) {
  if (paths.size() > kMaxFiles) co_return Wrong(fmt::format("execPolicy.rules: more than {} files", kMaxFiles));
  for (std::string& path : paths) {
    auto parsed = ParsePath(path);
    if (!parsed) co_return Wrong("execPolicy.rules: " + parsed.error().message);
    path = *std::move(parsed);
  }
  auto work = [kept = kept_, paths = std::move(paths)] { return kept->Load(paths); };
  co_return co_await workers_.Do(std::move(work));
}

}  // namespace holdfast::exec_server
