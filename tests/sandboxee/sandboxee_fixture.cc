#include "sandboxee/sandboxee_fixture.h"

#include <linux/capability.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <iterator>
#include <map>
#include <ranges>
#include <sstream>

#include <fmt/format.h>

#include "sandboxee/policies.h"

namespace holdfast::sandboxee {
namespace {

namespace fs = std::filesystem;

enum ActStatus { kDone = 0, kRefused = 1, kNotTried = 2 };  // the same as in acts/sandboxee.h

constexpr uid_t kOrdinaryUser = 1000;
const fs::path kBuilt = fs::path(HOLDFAST_BINARY).parent_path();
constexpr std::string_view kHelper = "holdfast-linux-sandbox";

// The answers of a kernel or a machine that does not have what an act uses.
constexpr std::string_view kNotThere =
    "ENOSYS EAFNOSUPPORT EPROTONOSUPPORT ESOCKTNOSUPPORT EOPNOTSUPP ENOTTY ENODEV ENXIO ENOENT ENOTDIR EIO";
constexpr std::string_view kNotForRoot = "EPERM EACCES ENOENT";

Strings Split(const std::string& text) {
  std::istringstream stream(text);
  return {std::istream_iterator<std::string>(stream), {}};
}

bool IsOneOf(std::string_view names, std::string_view name) {
  const Strings known = Split(std::string(names));
  return std::ranges::find(known, name) != known.end();
}

void Append(Strings& words, const Strings& more) { words.insert(words.end(), more.begin(), more.end()); }

// Returns whether an act touches files of the tree.
bool NamesTree(const Act& act) {
  constexpr std::string_view places[] = {"{ws}", "{out}", "{store}", "{tree}", "{linked}", "{d}"};
  return act.passed != Passed::kNothing ||
         std::ranges::any_of(places, [&](std::string_view place) { return act.words.contains(place); });
}

// Reads the outcomes of the acts from the output of `in_turn`. If `in_turn` did not run, each act has the outcome of
// the helper.
std::vector<Outcome> OutcomesOf(const Outcome& all, size_t count) {
  std::vector<Outcome> outcomes(count, Outcome{all.status == 0 ? kNotTried : all.status, "", all.err});
  std::istringstream lines(all.out);
  std::string line;
  for (size_t i = 0; i < count && std::getline(lines, line); ++i) {
    const size_t space = line.find(' ');
    outcomes[i] = {std::stoi(line.substr(0, space)), line.substr(space + 1), all.err};
  }
  return outcomes;
}

// Returns how an act was refused, or an empty text if it was not.
std::string RefusalOf(const Outcome& outcome) {
  if (outcome.status == 128 + SIGSYS) return "SIGSYS";
  if (outcome.out.empty() && outcome.err.starts_with(kHelper)) return "HELPER";
  return outcome.status == kRefused ? outcome.out : "";
}

std::string Text(const Outcome& outcome) {
  return fmt::format("status {}, output {}, errors {}", outcome.status, outcome.out, outcome.err);
}

// Any user that executes the file may send raw packets.
void GiveCapability(const std::string& program) {
  const vfs_cap_data capability = {VFS_CAP_REVISION_2 | VFS_CAP_FLAGS_EFFECTIVE, {{1u << CAP_NET_RAW, 0}, {0, 0}}};
  EXPECT_EQ(::setxattr(program.c_str(), "security.capability", &capability, sizeof capability, 0), 0);
}

}  // namespace

std::string CombinationName(const testing::TestParamInfo<std::tuple<User, Means>>& info) {
  const auto [user, means] = info.param;
  return fmt::format("As{}By{}", user == User::kRoot ? "Root" : "User",
                     means == Means::kNative             ? "Native"
                     : means == Means::kSystemBubblewrap ? "SystemBubblewrap"
                                                         : "BundledBubblewrap");
}

void SandboxeeTest::SetUp() {
  const User user = std::get<User>(GetParam());
  if (user == User::kRoot && ::geteuid() != 0) GTEST_SKIP() << "only root can show what root can do";
  uid_ = user == User::kRoot ? 0 : ::geteuid() != 0 ? ::geteuid() : kOrdinaryUser;
  CopyPrograms();
  neighbours_ = std::make_unique<Neighbours>(uid_);
  const Tree tree(uid_);
  constexpr Act nothing = {.name = "nothing", .words = "nothing"};
  const Outcome outcome = Do(Side::kInside, tree, {&nothing, 1}).front();
  if (outcome.status != kDone && outcome.err.contains("namespace")) GTEST_SKIP() << outcome.err;
  ASSERT_EQ(outcome.status, kDone) << outcome.err;
}

// The programs are copied, because the user of the test may not be able to reach the build folder. The bundled
// bubblewrap is copied only when it is to be used.
void SandboxeeTest::CopyPrograms() {
  programs_ = std::make_unique<support::ScratchDir>();
  const fs::path to = programs_->path();
  fs::copy(kBuilt / "sandboxee", to);
  fs::copy(kBuilt / kHelper, to);
  if (means() == Means::kBundledBubblewrap) {
    fs::copy(kBuilt / "holdfast-resources", to / "holdfast-resources");
  }
  ASSERT_EQ(::chmod(to.c_str(), 0755), 0);
  if (::geteuid() != 0) return;
  fs::copy(to / "be_root", to / "setuid");
  ASSERT_EQ(::chmod((to / "setuid").c_str(), 04755), 0);
  fs::copy(to / "have_capability", to / "capable");
  GiveCapability(to / "capable");
}

Places SandboxeeTest::PlacesOf(const Tree& tree) const {
  Places places = tree.places();
  places.insert(neighbours_->places().begin(), neighbours_->places().end());
  places["bin"] = programs_->path();
  places["setuid"] = programs_->path() + "/setuid";
  places["capable"] = programs_->path() + "/capable";
  return places;
}

Strings SandboxeeTest::WordsOf(const Act& act, const Places& places) const {
  Strings words = Split(Fill(act.words, places));
  if (!words[0].starts_with('/')) words[0] = fmt::format("{}/{}", programs_->path(), words[0]);
  return words;
}

std::vector<Outcome> SandboxeeTest::Do(Side side, const Tree& tree, std::span<const Act> acts,
                                       const Strings& environment) const {
  const Act& first = acts.front();
  const std::string& programs = programs_->path();
  const Places places = PlacesOf(tree);
  const OwnedFd passed = tree.Open(first.passed);
  Launch launch{.user = uid_, .words = {}, .environment = environment, .directory = places.at("ws")};
  if (side == Side::kInside) {
    launch.words = FlagsFor(first.policy, places);
    const std::string backend = means() == Means::kNative ? "native" : "bubblewrap";
    launch.words.insert(launch.words.begin(), {fmt::format("{}/{}", programs, kHelper), "--backend", backend});
    launch.words.emplace_back("--");
    Append(launch.environment, EnvironmentFor(first.policy, places));
  }
  launch.words.push_back(programs + "/in_turn");
  for (const Act& act : acts) {
    Append(launch.words, WordsOf(act, places));
    launch.words.emplace_back(";");
  }
  // Only where the system's bubblewrap is to be used does PATH lead to it.
  launch.environment.push_back("PATH=" + (means() == Means::kSystemBubblewrap ? "/usr/bin" : programs));
  // The search for leaks is off, because it needs ptrace, which the filter refuses.
  launch.environment.emplace_back("ASAN_OPTIONS=detect_leaks=0");
  const bool as_input = first.passed == Passed::kFileAs0 || first.passed == Passed::kDirectoryAs0;
  (as_input ? launch.standard_input : launch.third) = passed.get();
  return OutcomesOf(RunToEnd(launch), acts.size());
}

// Returns the acts that can be shown on this side, for this user.
std::vector<Act> SandboxeeTest::ToBeShown(Side side, std::span<const Act> acts) const {
  std::vector<Act> shown;
  for (const Act& act : acts) {
    const bool root = act.outside == Outside::kNeedsRoot || act.outside == Outside::kNeedsRootIfThere ||
                      act.outside == Outside::kNeedsWholeMachine;
    const bool possible = side == Side::kInside || (act.outside != Outside::kNothingThere && (uid_ == 0 || !root));
    // Only root can make the programs of these acts, and only another user can try them.
    const bool left_out = act.outside == Outside::kNeedsOrdinaryUser && (uid_ == 0 || ::geteuid() != 0);
    if (possible && !left_out) shown.push_back(act);
  }
  return shown;
}

template <typename Judge>
void SandboxeeTest::ForEachGroup(Side side, std::span<const Act> acts, Manner manner, Judge judge) {
  std::map<std::tuple<Policy, Passed, size_t>, std::vector<Act>> groups;
  for (const Act& act : ToBeShown(side, acts)) {
    const bool alone = manner == Manner::kEachInItsTree && NamesTree(act);
    // Outside no policy separates the groups.
    const Policy policy = side == Side::kInside ? act.policy : Policy::kWorkspace;
    groups[{policy, act.passed, alone ? groups.size() + 1 : 0}].push_back(act);
  }
  for (const auto& [key, group] : groups) {
    const Tree tree(uid_);
    const std::string before = tree.Protected();
    const std::vector<Outcome> outcomes = Do(side, tree, group);
    for (size_t i = 0; i < group.size(); ++i) {
      SCOPED_TRACE(fmt::format("{}: {}", group[i].name, group[i].words));
      judge(group[i], outcomes[i]);
    }
    const std::string heard = neighbours_->Heard();
    if (manner != Manner::kTogetherWithoutTrace) continue;
    const auto name = [](const Act& act) { return act.name; };
    SCOPED_TRACE(fmt::format("one of: {}", fmt::join(group | std::views::transform(name), "; ")));
    EXPECT_EQ(tree.Protected(), before);
    EXPECT_EQ(heard, "");
  }
}

void SandboxeeTest::ExpectDone(Side side, const Act& act, const Outcome& outcome) const {
  const bool machine = act.outside == Outside::kNeedsWholeMachine;
  const bool optional = machine || act.outside == Outside::kIfThere || act.outside == Outside::kNeedsRootIfThere;
  const std::string refusal = RefusalOf(outcome);
  if (side == Side::kOutside && optional && IsOneOf(machine ? kNotForRoot : kNotThere, refusal)) {
    fmt::print("not here: {} ({})\n", act.name, refusal);
    return;
  }
  EXPECT_EQ(outcome.status, kDone) << (side == Side::kOutside ? "outside: " : "inside: ") << Text(outcome);
}

void SandboxeeTest::ExpectRefused(std::span<const Act> acts) {
  ForEachGroup(Side::kOutside, acts, Manner::kEachInItsTree,
               [&](const Act& act, const Outcome& outcome) { ExpectDone(Side::kOutside, act, outcome); });
  ForEachGroup(Side::kInside, acts, Manner::kTogetherWithoutTrace, [](const Act& act, const Outcome& outcome) {
    EXPECT_TRUE(IsOneOf(act.refusal, RefusalOf(outcome))) << "inside: " << Text(outcome) << "; not " << act.refusal;
  });
}

void SandboxeeTest::ExpectAllowed(std::span<const Act> acts) {
  for (const Side side : {Side::kOutside, Side::kInside}) {
    ForEachGroup(side, acts, Manner::kTogether,
                 [&](const Act& act, const Outcome& outcome) { ExpectDone(side, act, outcome); });
  }
}

}  // namespace holdfast::sandboxee
