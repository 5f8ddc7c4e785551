// These tests judge results of trials that are made up; real trials are in tests/integration/doctor_test.cc.
#include "doctor/policy_trials.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "doctor/examination.h"

namespace holdfast::doctor {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using Kind = RunOutcome::Kind;

Observation Outside() {
  Observation seen;
  seen.mount_namespace = "mnt:[1]";
  seen.pid_namespace = "pid:[1]";
  seen.network_namespace = "net:[1]";
  return seen;
}

Observation Inside() {
  Observation seen;
  seen.mount_namespace = "mnt:[2]";
  seen.pid_namespace = "pid:[2]";
  seen.network_namespace = "net:[2]";
  seen.has_filter = true;
  seen.writes_outside = seen.writes_workspace = seen.reopens_for_writing = false;
  return seen;
}

TrialReport Verdict(const Observation& inside, const Expectation& expected = {}) {
  return Judge("x", expected, {.outcome = {}, .inside = inside}, Outside(), {});
}

TrialReport VerdictOn(RunOutcome outcome, const sandbox::HostFacts& facts = {}) {
  return Judge("x", {}, {.outcome = std::move(outcome), .inside = {}}, Outside(), facts);
}

TEST(PolicyTrialTest, NamesWhatHolds) {
  const TrialReport report = Verdict(Inside());
  EXPECT_EQ(report.finding.state, State::kOk);
  EXPECT_THAT(report.enforced_by, ElementsAre("mounts", "landlock", "filter", "networkNamespace", "pidNamespace"));
}

TEST(PolicyTrialTest, LandlockIsNotClaimedWhenADescriptorCanBeOpenedAgain) {
  Observation inside = Inside();
  inside.reopens_for_writing = true;
  EXPECT_THAT(Verdict(inside).enforced_by, ElementsAre("mounts", "filter", "networkNamespace", "pidNamespace"));
}

TEST(PolicyTrialTest, WhatCanBeDoneAgainstThePolicyIsBroken) {
  const auto state_with = [](auto change) {
    Observation inside = Inside();
    change(inside);
    return Verdict(inside).finding.state;
  };
  EXPECT_EQ(state_with([](Observation& seen) { seen.writes_outside = true; }), State::kBroken);
  EXPECT_EQ(state_with([](Observation& seen) { seen.writes_workspace = true; }), State::kBroken);
  EXPECT_EQ(state_with([](Observation& seen) { seen.has_filter = false; }), State::kBroken);
  EXPECT_EQ(state_with([](Observation& seen) { seen.has_capabilities = true; }), State::kBroken);
  EXPECT_EQ(state_with([](Observation& seen) { seen.network_namespace = "net:[1]"; }), State::kBroken);
}

TEST(PolicyTrialTest, AWorkspaceThatCannotBeWrittenIsBrokenToo) {
  EXPECT_EQ(Verdict(Inside(), {.writable_workspace = true}).finding.state, State::kBroken);
}

TEST(PolicyTrialTest, ExplainsWhatBubblewrapSaid) {
  sandbox::HostFacts facts;
  facts.max_user_namespaces = 0;
  const TrialReport report =
      VerdictOn({.status = 1, .out = {}, .err = "bwrap: No permissions to create new namespace"}, facts);
  EXPECT_EQ(report.finding.state, State::kRefused);
  EXPECT_THAT(report.finding.detail, HasSubstr("user.max_user_namespaces"));
}

TEST(PolicyTrialTest, PassesOnWordsItDoesNotKnowInOneLine) {
  const TrialReport report = VerdictOn({.status = 1, .out = {}, .err = "one\ntwo\n"});
  EXPECT_EQ(report.finding.detail, "one; two");
  const std::string by_native =
      "the native backend does not work here: clone3: Operation not permitted. The kernel "
      "makes no user namespaces in a chroot. Use pivot_root instead of chroot.";
  EXPECT_EQ(VerdictOn({.status = 1, .out = {}, .err = "holdfast-linux-sandbox: " + by_native + "\n"}).finding.detail,
            by_native);
  EXPECT_EQ(VerdictOn({.status = 3, .out = {}, .err = {}}).finding.detail, "exit status 3");
}

TEST(PolicyTrialTest, TimeThatRunsOutIsARefusal) {
  const TrialReport report = VerdictOn({.kind = Kind::kTimedOut, .status = 137, .out = {}, .err = {}});
  EXPECT_EQ(report.finding.state, State::kRefused);
  EXPECT_THAT(report.finding.detail, Not(IsEmpty()));
}

Report With(std::initializer_list<State> states) {
  Report report;
  for (const State state : states) {
    TrialReport policy;
    policy.name = "policy" + std::to_string(report.policies.size());
    policy.finding = {state, state == State::kOk ? "" : "the reason"};
    report.policies.push_back(policy);
  }
  report.landlock.abi = 1;
  report.sandbox_program.finding.state = State::kOk;
  Conclude(report);
  return report;
}

TEST(ConclusionTest, WorksWhenTheFirstThreeDo) {
  EXPECT_TRUE(With({State::kOk, State::kOk, State::kOk}).works);
  EXPECT_FALSE(With({State::kOk, State::kOk, State::kRefused}).works);
  EXPECT_FALSE(With({State::kBroken, State::kOk, State::kOk}).works);
  EXPECT_FALSE(With({}).works);
}

TEST(ConclusionTest, AMissingSandboxProgramIsTheReasonForAllTheRest) {
  Report report = With({State::kMissing, State::kMissing, State::kMissing});
  report.sandbox_program.finding = {State::kMissing, "/x is missing."};
  Conclude(report);
  EXPECT_EQ(report.summary, "The sandbox does not work here. /x is missing.");
}

TEST(ConclusionTest, SaysWhyNotOrWhatElseDoesNot) {
  EXPECT_THAT(With({State::kRefused, State::kOk, State::kOk}).summary, HasSubstr("does not work here. the reason"));
  const Report partly = With({State::kOk, State::kOk, State::kOk, State::kOk, State::kRefused});
  EXPECT_TRUE(partly.works);
  EXPECT_THAT(partly.summary, HasSubstr("except for: policy4"));
}

}  // namespace
}  // namespace holdfast::doctor
