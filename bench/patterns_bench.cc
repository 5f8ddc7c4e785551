// Benchmarks of the resolution of a policy in a large workspace of 124 000 files, and in small ones: with patterns a
// walk of all directories, without them a search for repositories in the upper ones, and each with a memory of an
// earlier walk or search. The argument is the number of directories.
#include <unistd.h>

#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include "base/check.h"
#include "sandbox/resolve/resolve.h"

namespace holdfast::sandbox {
namespace {

constexpr size_t kFiles = 124'000, kDirectoriesInEach = 6;
constexpr size_t kSmall = 1'000;  // a workspace of fewer directories has 16 files for each

class Workspace {
 public:
  explicit Workspace(size_t directories) {
    std::string name = std::filesystem::temp_directory_path() / "patterns_bench.XXXXXX";
    CHECK(::mkdtemp(name.data()) != nullptr);
    directories_ = {name};
    for (size_t i = 1; i < directories; ++i) {
      directories_.push_back(fmt::format("{}/directory_{}", directories_[(i - 1) / kDirectoriesInEach], i));
      CHECK(std::filesystem::create_directory(directories_.back()));
    }
    const size_t files = directories < kSmall ? 16 * (directories - 1) : kFiles;
    for (size_t i = 0; i < files; ++i) {
      CHECK(std::ofstream(fmt::format("{}/module_{}.txt", directories_[i * directories / files], i)).is_open());
    }
    std::this_thread::sleep_for(std::chrono::seconds(2));  // a memory does not trust more recent change times
  }
  ~Workspace() { std::filesystem::remove_all(directories_.front()); }
  Workspace(const Workspace&) = delete;
  Workspace& operator=(const Workspace&) = delete;

  const std::string& path() const { return directories_.front(); }
  const std::string& last_directory() const { return directories_.back(); }

 private:
  std::vector<std::string> directories_;
};

const Workspace& WorkspaceOf(const benchmark::State& state) {
  static std::map<size_t, Workspace> workspaces;
  const auto directories = static_cast<size_t>(state.range(0));
  return workspaces.try_emplace(directories, directories).first->second;
}

using Entries = std::vector<Entry>;

Entries WorkspaceWrite() {
  return {{.where = Place{PlaceKind::kRoot, ""}, .access = Access::kRead},
          {.where = Place{PlaceKind::kProjectRoots, ""}, .access = Access::kWrite}};
}

Resolution ResolvedEntries(const Workspace& workspace, Entries entries, WalkMemory* memory) {
  const Policy policy = {.files = Policy::Files{std::move(entries), {}}};
  auto resolution =
      Resolve(policy, {.policy_cwd = workspace.path(), .project_roots = {}, .tmpdir = {}, .memory = memory});
  CHECK(resolution.has_value());
  return *std::move(resolution);
}

Resolution Resolved(const Workspace& workspace, WalkMemory* memory) {
  Entries entries = WorkspaceWrite();
  for (const char* pattern : {"**/*.env", "**/*.key"}) {
    entries.push_back({.where = Pattern{pattern}, .access = Access::kDeny});
  }
  return ResolvedEntries(workspace, std::move(entries), memory);
}

void WalkWithoutMemory(benchmark::State& state) {
  const Workspace& workspace = WorkspaceOf(state);
  for (auto _ : state) benchmark::DoNotOptimize(Resolved(workspace, nullptr));
}

void WalkThatIsRemembered(benchmark::State& state) {
  const Workspace& workspace = WorkspaceOf(state);
  for (auto _ : state) {
    WalkMemory memory;
    benchmark::DoNotOptimize(Resolved(workspace, &memory));
    state.counters["bytes"] = static_cast<double>(memory.bytes());
  }
}

void LookWithMemory(benchmark::State& state) {
  const Workspace& workspace = WorkspaceOf(state);
  WalkMemory memory;
  Resolved(workspace, &memory);
  for (auto _ : state) benchmark::DoNotOptimize(Resolved(workspace, &memory));
}

void LookWithOneChange(benchmark::State& state) {
  const Workspace& workspace = WorkspaceOf(state);
  const std::string changing = workspace.last_directory() + "/a.env";
  WalkMemory memory;
  Resolved(workspace, &memory);
  size_t found = 0;
  for (auto _ : state) {
    if (::unlink(changing.c_str()) != 0) CHECK(std::ofstream(changing).is_open());
    found += Resolved(workspace, &memory).denied_by_pattern.size();
  }
  ::unlink(changing.c_str());
  CHECK(found == static_cast<size_t>(state.iterations() + 1) / 2);
}

// Without patterns, only the upper directories are searched for repositories.
void SearchWithoutMemory(benchmark::State& state) {
  const Workspace& workspace = WorkspaceOf(state);
  for (auto _ : state) benchmark::DoNotOptimize(ResolvedEntries(workspace, WorkspaceWrite(), nullptr));
}

void SearchWithMemory(benchmark::State& state) {
  const Workspace& workspace = WorkspaceOf(state);
  WalkMemory memory;
  for (auto _ : state) benchmark::DoNotOptimize(ResolvedEntries(workspace, WorkspaceWrite(), &memory));
}

constexpr long kFewer = 4'052, kMore = 8'000;

BENCHMARK(WalkWithoutMemory)->Arg(kFewer)->Arg(kMore)->Unit(benchmark::kMillisecond);
BENCHMARK(WalkThatIsRemembered)->Arg(kFewer)->Arg(kMore)->Unit(benchmark::kMillisecond);
BENCHMARK(LookWithMemory)->Arg(kFewer)->Arg(kMore)->Unit(benchmark::kMillisecond);
BENCHMARK(LookWithOneChange)->Arg(kFewer)->Arg(kMore)->Unit(benchmark::kMillisecond);
BENCHMARK(SearchWithoutMemory)->Arg(1)->Arg(65)->Arg(641)->Unit(benchmark::kMicrosecond);
BENCHMARK(SearchWithMemory)->Arg(1)->Arg(65)->Arg(641)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace holdfast::sandbox
