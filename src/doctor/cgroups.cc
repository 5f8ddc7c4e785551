#include "doctor/cgroups.h"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string_view>
#include <vector>

namespace holdfast::doctor {
namespace {

namespace fs = std::filesystem;
using Strings = std::vector<std::string>;

Strings Split(std::string_view text, char separator) {
  Strings parts;
  std::istringstream stream{std::string(text)};
  for (std::string part; std::getline(stream, part, separator);) parts.push_back(part);
  return parts;
}

std::string Read(const fs::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

// A line of /proc/self/cgroup, which is number:controllers:path. The line of version 2 has no controllers.
struct Membership {
  Strings controllers;
  std::string path;
};

std::vector<Membership> Memberships(const fs::path& root) {
  std::vector<Membership> all;
  for (const std::string& line : Split(Read(root / "proc/self/cgroup"), '\n')) {
    const Strings parts = Split(line, ':');
    if (parts.size() < 3) continue;
    all.push_back({Split(parts[1], ','), line.substr(parts[0].size() + parts[1].size() + 2)});
  }
  return all;
}

// The parts of a mountinfo line that matter here. `shown` is the group that is mounted, so a group can only be seen if
// its path is at or below `shown`.
struct Hierarchy {
  std::string shown, mount_point, type;
  Strings options;
};

std::vector<Hierarchy> Hierarchies(const fs::path& root) {
  std::vector<Hierarchy> all;
  for (const std::string& line : Split(Read(root / "proc/self/mountinfo"), '\n')) {
    const Strings words = Split(line, ' ');
    const auto dash = std::ranges::find(words, "-");
    if (words.size() < 5 || words.end() - dash < 4) continue;
    if (dash[1] == "cgroup" || dash[1] == "cgroup2") all.push_back({words[3], words[4], dash[1], Split(dash[3], ',')});
  }
  return all;
}

// Returns the directory of the group, or an empty path if the mount does not show the group.
fs::path GroupIn(const fs::path& root, const Hierarchy& hierarchy, const std::string& group) {
  std::string_view below = group;
  if (hierarchy.shown != "/") {
    if (!below.starts_with(hierarchy.shown)) return {};
    below.remove_prefix(hierarchy.shown.size());
  }
  while (below.starts_with('/')) below.remove_prefix(1);
  return root / fs::path(hierarchy.mount_point).relative_path() / below;
}

// Returns whether, by the modes of its files, this user may make groups in the group and move its processes out of it.
bool IsDelegated(const fs::path& group) {
  return !group.empty() && ::access(group.c_str(), W_OK) == 0 && ::access((group / "cgroup.procs").c_str(), W_OK) == 0;
}

Strings DelegatedOf(const fs::path& root, const Membership& membership, const std::vector<Hierarchy>& hierarchies) {
  const bool unified = membership.controllers.empty();
  for (const Hierarchy& hierarchy : hierarchies) {
    const bool same = unified ? hierarchy.type == "cgroup2"
                              : hierarchy.type == "cgroup" &&
                                    std::ranges::count(hierarchy.options, membership.controllers.front()) != 0;
    if (!same) continue;
    const fs::path group = GroupIn(root, hierarchy, membership.path);
    if (!IsDelegated(group)) return {};
    if (!unified) return membership.controllers;
    std::string text = Read(group / "cgroup.controllers");
    std::ranges::replace(text, '\n', ' ');
    return Split(text, ' ');
  }
  return {};
}

std::string Version(const std::vector<Hierarchy>& hierarchies) {
  const bool v1 = std::ranges::count(hierarchies, "cgroup", &Hierarchy::type) != 0;
  const bool v2 = std::ranges::count(hierarchies, "cgroup2", &Hierarchy::type) != 0;
  if (v1 && v2) return "hybrid";
  return v1 ? "v1" : v2 ? "v2" : "";
}

}  // namespace

CgroupsReport FindCgroups(const std::string& root) {
  CgroupsReport report;
  const std::vector<Hierarchy> hierarchies = Hierarchies(root);
  report.version = Version(hierarchies);
  if (report.version.empty()) {
    report.finding.detail = "no control groups are mounted";
    return report;
  }
  for (const Membership& membership : Memberships(root)) {
    for (std::string& controller : DelegatedOf(root, membership, hierarchies)) {
      if (!controller.empty() && !controller.contains('=')) report.delegated.push_back(std::move(controller));
    }
  }
  std::ranges::sort(report.delegated);
  report.finding.state = report.delegated.empty() ? State::kRefused : State::kOk;
  report.finding.detail = report.delegated.empty() ? "no controller is delegated to this user" : "";
  return report;
}

}  // namespace holdfast::doctor
