// The text of a plan and the mounts inside agree: every mount that the plan names is there, with its flags, and there
// is no other, except for the host's own. The tests read /proc/self/mountinfo inside of native sandboxes.
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/mount_table.h"
#include "support/sandbox_workspace.h"

namespace holdfast::support {
namespace {

using testing::IsEmpty;
using testing::IsSupersetOf;
using Strings = std::vector<std::string>;

// A mount as the plan has it.
struct Expected {
  enum class Shows { kOutside, kTmpfs, kProc, kTerminals };
  Shows shows = Shows::kOutside;
  bool is_writable = false;
  std::set<std::string> flags = {"nosuid", "nodev"};
  std::string root = "/";  // of the file system, for those that are not the host's
};
using ExpectedMounts = std::map<std::string, Expected>;

Strings Words(const std::string& line) {
  std::istringstream stream(line);
  return {std::istream_iterator<std::string>(stream), {}};
}

void ExpectDev(ExpectedMounts& mounts) {
  using enum Expected::Shows;
  mounts["/dev"] = {.shows = kTmpfs, .flags = {"nosuid", "nodev", "noexec"}};
  mounts["/dev/shm"] = {.shows = kTmpfs, .is_writable = true};
  mounts["/dev/pts"] = {.shows = kTerminals, .is_writable = true, .flags = {"nosuid", "noexec"}};
  for (const char* const node : {"null", "zero", "full", "random", "urandom", "tty"}) {
    mounts[fmt::format("/dev/{}", node)] = {.flags = {"nosuid", "noexec"}};
  }
}

void ExpectProc(ExpectedMounts& mounts, const std::string& line) {
  const bool only_knobs = line.contains("knobs");
  const std::set<std::string> flags = {"nosuid", "nodev", "noexec"};
  mounts["/proc"] = {.shows = Expected::Shows::kProc, .is_writable = only_knobs, .flags = flags};
  if (only_knobs) mounts["/proc/sys"] = {.shows = Expected::Shows::kProc, .flags = flags, .root = "/sys"};
}

// Adds the mount of one line of the plan. A tmpfs of the sandbox's own is writable until it is sealed.
void ExpectLine(ExpectedMounts& mounts, const std::string& line) {
  using enum Expected::Shows;
  const Strings words = Words(line);
  if (line == "private /dev") return ExpectDev(mounts);
  if (line.starts_with("fresh ")) return ExpectProc(mounts, line);
  if (line == "empty root") {
    mounts["/"] = {.shows = kTmpfs, .is_writable = true};
  } else if (words[0] == "empty" && words[1] == "directory") {
    mounts[words[2]] = {.shows = kTmpfs, .is_writable = true};
  } else if (words[0] == "empty") {
    const size_t digit = std::min(words[3].find_first_not_of('0'), words[3].size() - 1);
    mounts[words[2]] = {.shows = kTmpfs, .root = "/" + words[3].substr(digit)};
  } else if (words[0] == "seal") {
    mounts.at(words[1]).is_writable = false;
  } else if (words[0] == "read-only" || words[0] == "writable" || words[0] == "pinned") {
    mounts[words[1]] = {.is_writable = words[0] != "read-only"};
  }
}

// Returns the mounts of a plan by their path. A mount that a later one covers is not among them.
ExpectedMounts ParsePlan(const std::string& text) {
  ExpectedMounts mounts;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("network ")) break;
    ExpectLine(mounts, line);
  }
  return mounts;
}

struct MountCase {
  std::string name;
  std::string profile;  // TOML; {ws} and {out} are filled in
};

class SandboxMountsTest : public testing::TestWithParam<std::tuple<SandboxCase, MountCase>> {
 protected:
  void SetUp() override {
    if (const std::string reason = workspace_.WhyNot(); !reason.empty()) GTEST_SKIP() << reason;
    if (workspace_.Outside("test -x " HOLDFAST_BINARY).status != 0) GTEST_SKIP() << "out of this user's reach";
    const Outcome made = workspace_.Outside(
        fmt::format("mkdir -p .git sub/deep {0}/closed/open && touch a.env sub/deep/b.env {0}/secret", out()));
    ASSERT_EQ(made.status, 0) << made.err;
  }

  const std::string& out() const { return workspace_.elsewhere(); }

  Outcome Holdfast(const Strings& words) const {
    const std::string config = WriteConfig();
    std::string line = fmt::format(HOLDFAST_BINARY " sandbox --backend native --config {} --profile mine -C {}", config,
                                   workspace_.path());
    for (const std::string& word : words) line += " " + word;
    return workspace_.Outside(line);
  }

  std::string WriteConfig() const {
    std::string text = "[permissions.mine.filesystem]\n" + std::get<MountCase>(GetParam()).profile;
    for (size_t at; (at = text.find("{out}")) != std::string::npos;) text.replace(at, 5, out());
    std::string path = workspace_.programs() + "/config.toml";
    std::ofstream(path) << text;
    return path;
  }

  SandboxWorkspace workspace_{std::get<SandboxCase>(GetParam())};
};

std::string MountCaseName(const testing::TestParamInfo<std::tuple<SandboxCase, MountCase>>& info) {
  return std::get<MountCase>(info.param).name + CaseName({std::get<SandboxCase>(info.param), 0});
}

const MountCase kCases[] = {
    {"ReadOnly", R"(":root" = "read")"},
    {"Workspace",
     "\":root\" = \"read\"\n\":tmpdir\" = \"write\"\n[permissions.mine.filesystem.\":project_roots\"]\n"
     "\".\" = \"write\"\n"},
    {"Denied",
     "\":root\" = \"read\"\n\"{out}/secret\" = \"deny\"\n\"{out}/closed\" = \"deny\"\n"
     "\"{out}/closed/open\" = \"write\"\n\"{out}/missing/deep\" = \"deny\"\n\"{out}\" = \"write\"\n"},
    {"Patterns",
     "\":root\" = \"read\"\n[permissions.mine.filesystem.\":project_roots\"]\n"
     "\".\" = \"write\"\n\"**/*.env\" = \"none\"\n"},
    {"HiddenRoot", "\":minimal\" = \"read\"\n[permissions.mine.filesystem.\":project_roots\"]\n\".\" = \"write\"\n"},
    {"Everything", "\":root\" = \"write\"\n\"{out}/closed\" = \"deny\"\n\"{out}/secret\" = \"read\"\n"},
};

INSTANTIATE_TEST_SUITE_P(, SandboxMountsTest,
                         testing::Combine(testing::ValuesIn(UsersWith({Means::kNative})), testing::ValuesIn(kCases)),
                         MountCaseName);

void ExpectIsAsPlanned(const std::string& path, const Expected& planned, const MountRow& mount,
                       const MountTable& outside) {
  EXPECT_EQ(mount.IsWritable(), planned.is_writable) << path;
  EXPECT_THAT(mount.flags, IsSupersetOf(planned.flags)) << path;
  switch (planned.shows) {
    case Expected::Shows::kOutside: {
      const MountPlace place = outside.PlaceOf(path);
      EXPECT_EQ(mount.device, place.device) << path;
      EXPECT_EQ(mount.root, place.root) << path;
      break;
    }
    case Expected::Shows::kTmpfs:
      EXPECT_EQ(mount.type, "tmpfs") << path;
      EXPECT_EQ(mount.root, planned.root) << path;
      EXPECT_FALSE(outside.HasDevice(mount.device)) << path << " is a tmpfs of the host";
      break;
    case Expected::Shows::kProc:
      EXPECT_EQ(mount.type, "proc") << path;
      EXPECT_EQ(mount.root, planned.root) << path;
      EXPECT_FALSE(outside.HasDevice(mount.device)) << path << " is that of the host";
      break;
    case Expected::Shows::kTerminals:
      EXPECT_EQ(mount.type, "devpts") << path;
      EXPECT_FALSE(outside.HasDevice(mount.device)) << path << " is that of the host";
      break;
  }
}

// Returns the planned mount that decides about a path: the deepest one at or above it.
const Expected& DecidingOn(const std::string& path, const ExpectedMounts& planned) {
  std::string above = path;
  while (!planned.contains(above)) above = above.substr(0, std::max<size_t>(above.rfind('/'), 1));
  return planned.at(above);
}

// A mount that is not in the plan is one of the host, below a bind, or one of the knobs in /proc.
void ExpectIsTheHosts(const MountRow& mount, const ExpectedMounts& planned, const MountTable& outside) {
  const Expected& deciding = DecidingOn(mount.point, planned);
  if (deciding.shows == Expected::Shows::kProc) {
    EXPECT_EQ(mount.type, "proc") << mount.point;
    EXPECT_FALSE(mount.IsWritable()) << mount.point;
    return;
  }
  EXPECT_EQ(deciding.shows, Expected::Shows::kOutside) << mount.point << " is not in the plan";
  const MountRow* const host = outside.VisibleAt(mount.point);
  ASSERT_NE(host, nullptr) << mount.point << " is not in the plan, and not the host's";
  EXPECT_EQ(mount.device, host->device) << mount.point;
  // The root of control groups is shown as seen from the cgroup namespace.
  if (!mount.type.starts_with("cgroup")) EXPECT_EQ(mount.root, host->root) << mount.point;
  if (!deciding.is_writable) EXPECT_FALSE(mount.IsWritable()) << mount.point;
  EXPECT_THAT(mount.flags, IsSupersetOf(deciding.flags)) << mount.point;
}

TEST_P(SandboxMountsTest, AreThoseOfThePlan) {
  const Outcome plan = Holdfast({"--explain"}), inside = Holdfast({"--", "cat", "/proc/self/mountinfo"});
  ASSERT_EQ(plan.status, 0) << plan.err;
  ASSERT_EQ(inside.status, 0) << inside.err;
  const MountTable mounts(inside.out), outside(workspace_.Outside("cat /proc/self/mountinfo").out);
  const ExpectedMounts planned = ParsePlan(plan.out);
  ASSERT_FALSE(planned.empty());
  for (const auto& [path, expected] : planned) {
    const MountRow* const mount = mounts.VisibleAt(path);
    ASSERT_NE(mount, nullptr) << path << " has no mount\n" << inside.out;
    ExpectIsAsPlanned(path, expected, *mount, outside);
  }
  for (const MountRow* const mount : mounts.Visible()) {
    if (!planned.contains(mount->point)) ExpectIsTheHosts(*mount, planned, outside);
  }
  // Also mounts that others cover get no later mounts of the host, and pass none on to it.
  for (const MountRow& mount : mounts.rows()) EXPECT_THAT(mount.propagation, IsEmpty()) << mount.point;
}

}  // namespace
}  // namespace holdfast::support
