// Acts outside and inside: as root or not, by the system's bubblewrap or the bundled one.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>

#include "sandboxee/act.h"
#include "sandboxee/launch.h"
#include "sandboxee/surroundings.h"
#include "support/scratch_dir.h"

namespace holdfast::sandboxee {

enum class User { kRoot, kOrdinary };
enum class Program { kSystem, kBundled };  // bubblewrap's
enum class Side { kOutside, kInside };
// Acts that are to be done may need a tree each; those that are refused leave the one they share as it was.
enum class Manner { kEachInItsTree, kTogether, kTogetherWithoutTrace };

class SandboxeeTest : public testing::TestWithParam<std::tuple<User, Program>> {
 protected:
  void SetUp() override;

  // Each is done outside and refused inside, and nothing of it can be seen afterwards.
  void ExpectRefused(std::span<const Act> acts);

  // Each is done outside and inside.
  void ExpectAllowed(std::span<const Act> acts);

  // Of the same policy, with the same descriptor, one after the other.
  std::vector<Outcome> Do(Side side, const Tree& tree, std::span<const Act> acts,
                          const Strings& environment = {}) const;

  uid_t uid() const { return uid_; }

 private:
  void CopyPrograms();
  Places PlacesOf(const Tree& tree) const;
  Strings WordsOf(const Act& act, const Places& places) const;
  std::vector<Act> ToBeShown(Side side, std::span<const Act> acts) const;
  void ExpectDone(Side side, const Act& act, const Outcome& outcome) const;

  // Calls `judge` with acts that can share a sandbox, the tree they had, and their outcomes.
  template <typename Judge>
  void ForEachGroup(Side side, std::span<const Act> acts, Manner manner, Judge judge);

  uid_t uid_ = 0;
  std::unique_ptr<support::ScratchDir> programs_;
  std::unique_ptr<Neighbours> neighbours_;
};

std::string CombinationName(const testing::TestParamInfo<std::tuple<User, Program>>& info);

}  // namespace holdfast::sandboxee
