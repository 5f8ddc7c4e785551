// The fixture does acts outside and inside of a sandbox: as root or as an ordinary user, by the native backend, the
// system's bubblewrap or the bundled one.
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
enum class Means { kNative, kSystemBubblewrap, kBundledBubblewrap };  // what builds the sandbox
enum class Side { kOutside, kInside };
// Acts that are done may each need a tree of their own. Acts that are refused leave the tree that they share as it was.
enum class Manner { kEachInItsTree, kTogether, kTogetherWithoutTrace };

class SandboxeeTest : public testing::TestWithParam<std::tuple<User, Means>> {
 protected:
  void SetUp() override;

  // Expects that each act is done outside and refused inside, and that it leaves no trace.
  void ExpectRefused(std::span<const Act> acts);

  // Expects that each act is done outside and inside.
  void ExpectAllowed(std::span<const Act> acts);

  // Does acts with the same policy and the same passed descriptor, one after the other.
  std::vector<Outcome> Do(Side side, const Tree& tree, std::span<const Act> acts,
                          const Strings& environment = {}) const;

  uid_t uid() const { return uid_; }
  static Means means() { return std::get<Means>(GetParam()); }

 private:
  void CopyPrograms();
  Places PlacesOf(const Tree& tree) const;
  Strings WordsOf(const Act& act, const Places& places) const;
  std::vector<Act> ToBeShown(Side side, std::span<const Act> acts) const;
  void ExpectDone(Side side, const Act& act, const Outcome& outcome) const;

  // Calls `judge` with each group of acts that can share a sandbox, the tree that they used, and their outcomes.
  template <typename Judge>
  void ForEachGroup(Side side, std::span<const Act> acts, Manner manner, Judge judge);

  uid_t uid_ = 0;
  std::unique_ptr<support::ScratchDir> programs_;
  std::unique_ptr<Neighbours> neighbours_;
};

std::string CombinationName(const testing::TestParamInfo<std::tuple<User, Means>>& info);

}  // namespace holdfast::sandboxee
