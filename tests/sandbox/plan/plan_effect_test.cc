// Tests the effect of whole plans: a small interpreter of mounts computes the access to each path, which must be the
// access that the rules grant.
#include <algorithm>
#include <array>
#include <filesystem>
#include <random>
#include <set>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <gtest/gtest.h>

#include "sandbox/plan/make_plan.h"
#include "sandbox/plan/plan.h"
#include "support/scratch_dir.h"

namespace holdfast::sandbox {
namespace {

bool Covers(std::string_view directory, std::string_view path) {
  if (directory == "/" || directory == path) return true;
  return path.starts_with(directory) && path[directory.size()] == '/';
}

std::string Parent(const std::string& path) { return std::filesystem::path(path).parent_path().string(); }

bool MeansNothing(const Rule& rule) {
  return rule.if_missing == IfMissing::kSkip && !std::filesystem::exists(rule.path);
}

// Returns the access that the rules grant, by a simple search of all rules.
Access Wanted(const Resolution& resolution, std::string_view path) {
  const Rule* best = nullptr;
  const auto rank = [](Access access) { return access == Access::kDeny ? 2 : access == Access::kWrite ? 1 : 0; };
  for (const Rule& rule : resolution.rules) {
    if (!Covers(rule.path, path) || MeansNothing(rule)) continue;
    const bool is_longer = best == nullptr || rule.path.size() > best->path.size();
    const bool is_stricter = best != nullptr && rule.path == best->path && rank(rule.access) > rank(best->access);
    if (is_longer || is_stricter) best = &rule;
  }
  return best == nullptr ? Access::kDeny : best->access;
}

// The interpreter: it carries out a plan on a list of paths.
class MountTable {
 public:
  explicit MountTable(const NamespacePlan& plan) {
    for (const Mount& mount : plan.mounts) std::visit([this](const auto& step) { Do(step); }, mount);
    for (const Placeholder& placeholder : plan.placeholders) placeholders_.insert(placeholder.path);
  }

  // Returns the access to a path that exists outside, or to the mount that covers it.
  Access AccessTo(std::string_view path) const {
    const Layer* top = TopAt(path);
    return top == nullptr ? Access::kDeny : top->access;
  }

  bool IsMountPoint(std::string_view path) const {
    const Layer* top = TopAt(path);
    return top != nullptr && top->path == path;
  }

  // Returns whether the path can be neither renamed nor removed.
  bool Stays(const std::string& path) const { return IsMountPoint(path) || held_.contains(path); }

  bool IsPlaceholder(const std::string& path) const { return placeholders_.contains(path); }
  const std::vector<std::string>& faults() const { return faults_; }
  const std::set<std::string>& unsealed() const { return unsealed_; }

 private:
  struct Layer {
    std::string path;
    Access access;
    bool is_empty;
  };

  const Layer* TopAt(std::string_view path) const {
    const auto top = std::ranges::find_if(layers_.rbegin(), layers_.rend(),
                                          [&](const Layer& layer) { return Covers(layer.path, path); });
    return top == layers_.rend() ? nullptr : &*top;
  }

  void Lay(const std::string& path, Access access, bool is_empty = false) {
    // A tmpfs over a directory contains only the directories that earlier steps have made.
    if (const Layer* below = TopAt(path); below != nullptr && below->is_empty && below->path != "/") {
      if (Parent(path) != below->path && !made_.contains(Parent(path))) faults_.push_back("no way to " + path);
      if (!unsealed_.contains(below->path)) faults_.push_back("sealed before " + path);
    }
    layers_.push_back({.path = path, .access = access, .is_empty = is_empty});
  }

  void Do(const ReadOnlyBind& bind) { Lay(bind.path, Access::kRead); }
  void Do(const WritableBind& bind) { Lay(bind.path, Access::kWrite); }
  void Do(const PinnedBind& bind) { Lay(bind.path, Access::kWrite); }
  void Do(const HeldDirectory& held) { held_.insert(held.path); }
  void Do(const PinnedLink& link) { faults_.push_back("no links here: " + link.path); }
  void Do(const EmptyRoot&) {
    Lay("/", Access::kDeny, true);
    unsealed_.insert("/");
  }
  void Do(const EmptyDirectory& empty) {
    Lay(empty.path, Access::kDeny, true);
    unsealed_.insert(empty.path);
  }
  void Do(const EmptyFile& empty) { Lay(empty.path, Access::kDeny); }
  void Do(const MakeDirectory& make) {
    const Layer* top = TopAt(make.path);
    if (top == nullptr || !top->is_empty) faults_.push_back("not in an empty directory: " + make.path);
    made_.insert(make.path);
  }
  void Do(const Symlink& link) { faults_.push_back("no links here: " + link.path); }
  void Do(const Seal& seal) {
    if (unsealed_.erase(seal.path) == 0) faults_.push_back("nothing to seal: " + seal.path);
  }
  void Do(const PrivateDev&) { Lay("/dev", Access::kWrite); }
  void Do(const FreshProc&) { Lay("/proc", Access::kRead); }

  std::vector<Layer> layers_;
  std::set<std::string> made_, unsealed_, placeholders_, held_;
  std::vector<std::string> faults_;
};

class PlanEffectTest : public testing::Test {
 protected:
  static constexpr std::array kDirectories = {"a", "a/b", "a/b/c", "a/b/c/d", "a/x", "e", "e/g", "e/g/.git"};
  static constexpr std::array kFiles = {"f", "a/f", "a/b/f", "a/b/c/d/f", "e/g/f", "e/g/.git/config"};
  static constexpr std::array kMissing = {"m", "a/m", "a/b/m/n", "e/.codex", "e/g/m/.git", "a/f/x", "e/g/.git/m"};

  PlanEffectTest() : directory_(std::filesystem::canonical(scratch_.path()).string()) {
    for (const char* name : kDirectories) std::filesystem::create_directories(Path(name));
    for (const char* name : kFiles) scratch_.Write(name, "text");
    existing_ = {directory_};
    for (const char* name : kDirectories) existing_.push_back(Path(name));
    for (const char* name : kFiles) existing_.push_back(Path(name));
    for (const char* name : kMissing) missing_.push_back(Path(name));
  }

  std::string Path(std::string_view name) const { return directory_ + "/" + std::string(name); }

  const std::string& OneOf(const std::vector<std::string>& paths) { return paths[random_() % paths.size()]; }

  Resolution RandomRules() {
    constexpr std::array kAccesses = {Access::kRead, Access::kWrite, Access::kDeny};
    Resolution resolution;
    if (random_() % 4 != 0) resolution.rules.push_back({.path = "/", .access = kAccesses[random_() % 3]});
    for (size_t left = random_() % 7; left > 0; --left) {
      const std::string& path = OneOf(random_() % 4 == 0 ? missing_ : existing_);
      const IfMissing if_missing = random_() % 5 == 0 ? IfMissing::kSkip : IfMissing::kProtect;
      resolution.rules.push_back({.path = path, .access = kAccesses[random_() % 3], .if_missing = if_missing});
    }
    return resolution;
  }

  // Returns the path down to the first component that is missing, or to the file that the path goes through.
  std::string LastThere(std::string path) const {
    while (!std::filesystem::exists(Parent(path))) path = Parent(path);
    return std::filesystem::is_directory(Parent(path)) ? path : Parent(path);
  }

  void ExpectAccessAsWanted(const Resolution& resolution, const MountTable& table) {
    for (const std::string& path : existing_) EXPECT_EQ(table.AccessTo(path), Wanted(resolution, path)) << path;
  }

  void ExpectMissingStaysMissing(const Resolution& resolution, const MountTable& table) {
    for (const Rule& rule : resolution.rules) {
      if (std::filesystem::exists(rule.path) || MeansNothing(rule)) continue;
      if (Wanted(resolution, rule.path) == Access::kWrite) continue;
      const std::string last = LastThere(rule.path);
      if (std::filesystem::exists(last)) {
        EXPECT_TRUE(table.AccessTo(Parent(last)) != Access::kWrite || table.IsMountPoint(last)) << rule.path;
      } else {
        EXPECT_NE(table.AccessTo(last), Access::kWrite) << rule.path;
        EXPECT_EQ(table.IsPlaceholder(last), table.IsMountPoint(last)) << last;
      }
    }
  }

  // A path with a rule must stay where it is: neither it nor a directory above it can be renamed.
  void ExpectNothingMoves(const Resolution& resolution, const MountTable& table) {
    for (const Rule& rule : resolution.rules) {
      if (rule.path == "/" || !std::filesystem::exists(rule.path)) continue;
      for (std::string path = rule.path; path != "/"; path = Parent(path)) {
        if (table.AccessTo(Parent(path)) == Access::kWrite) EXPECT_TRUE(table.Stays(path)) << path;
      }
    }
  }

  support::ScratchDir scratch_;
  std::string directory_;
  std::vector<std::string> existing_, missing_;
  std::mt19937 random_{20240229};  // NOLINT: a fixed seed, for the same rules in each run
};

std::string Describe(const Resolution& resolution) {
  std::string text;
  for (const Rule& rule : resolution.rules) {
    text += rule.access == Access::kDeny ? "deny " : rule.access == Access::kWrite ? "write " : "read ";
    text += rule.path + (rule.if_missing == IfMissing::kSkip ? " (skip)\n" : "\n");
  }
  return text;
}

TEST_F(PlanEffectTest, EveryPathIsWhatTheRulesSayAndStaysThere) {
  for (int round = 0; round < 3000; ++round) {
    const Resolution resolution = RandomRules();
    const MountsBy mounts_by = round % 2 == 0 ? MountsBy::kName : MountsBy::kDescriptor;
    const auto plan = MakePlan(resolution, {.command_cwd = directory_, .mounts_by = mounts_by});
    ASSERT_TRUE(plan) << plan.error().message;
    const MountTable table(*plan);
    SCOPED_TRACE(Describe(resolution) + "---\n" + Text(*plan));
    ExpectAccessAsWanted(resolution, table);
    ExpectMissingStaysMissing(resolution, table);
    ExpectNothingMoves(resolution, table);
    EXPECT_EQ(table.faults(), std::vector<std::string>{});
    EXPECT_TRUE(table.unsealed().empty());
    if (HasFailure()) return;
  }
}

}  // namespace
}  // namespace holdfast::sandbox
