#include "support/mount_table.h"

#include <algorithm>
#include <sstream>

namespace holdfast::support {
namespace {

MountRow Parse(const std::string& line) {
  MountRow row;
  std::istringstream words(line);
  std::string flags;
  words >> row.id >> row.parent >> row.device >> row.root >> row.point >> flags;
  std::istringstream parts(flags);
  for (std::string flag; std::getline(parts, flag, ',');) row.flags.insert(flag);
  for (std::string field; words >> field && field != "-";) row.propagation.push_back(field);
  words >> row.type;
  return row;
}

bool IsBelow(std::string_view path, std::string_view directory) {
  if (directory == "/") return path != "/";
  return path.size() > directory.size() && path.starts_with(directory) && path[directory.size()] == '/';
}

std::string Joined(const std::string& directory, std::string_view rest) {
  if (rest.empty()) return directory;
  return (directory == "/" ? "" : directory) + "/" + std::string(rest);
}

}  // namespace

MountTable::MountTable(const std::string& mountinfo) {
  std::istringstream lines(mountinfo);
  for (std::string line; std::getline(lines, line);) rows_.push_back(Parse(line));
}

// The root of the table is the mount whose parent is not in it.
std::vector<const MountRow*> MountTable::Visible() const {
  std::vector<const MountRow*> visible;
  for (const MountRow& row : rows_) {
    if (std::ranges::find(rows_, row.parent, &MountRow::id) == rows_.end()) AddVisible(row, visible);
  }
  return visible;
}

// A mount is hidden by one on its own root; then everything else that is mounted in it is hidden too. It is also hidden
// by one on a directory above its mount point, in the same parent.
void MountTable::AddVisible(const MountRow& mount, std::vector<const MountRow*>& visible) const {
  const auto is_on_root = [&](const MountRow& row) { return row.parent == mount.id && row.point == mount.point; };
  if (const auto cover = std::ranges::find_if(rows_, is_on_root); cover != rows_.end()) {
    return AddVisible(*cover, visible);
  }
  visible.push_back(&mount);
  for (const MountRow& child : rows_) {
    if (child.parent != mount.id) continue;
    const bool is_hidden = std::ranges::any_of(
        rows_, [&](const MountRow& other) { return other.parent == mount.id && IsBelow(child.point, other.point); });
    if (!is_hidden) AddVisible(child, visible);
  }
}

const MountRow* MountTable::VisibleAt(std::string_view path) const {
  const auto visible = Visible();
  const auto found = std::ranges::find(visible, path, &MountRow::point);
  return found != visible.end() ? *found : nullptr;
}

MountPlace MountTable::PlaceOf(const std::string& path) const {
  const MountRow* deepest = nullptr;
  for (const MountRow* const mount : Visible()) {
    const bool holds = mount->point == path || IsBelow(path, mount->point);
    if (holds && (deepest == nullptr || mount->point.size() > deepest->point.size())) deepest = mount;
  }
  if (deepest == nullptr) return {};
  std::string_view rest = std::string_view(path).substr(deepest->point.size());
  rest.remove_prefix(std::min(rest.find_first_not_of('/'), rest.size()));
  return {.device = deepest->device, .root = Joined(deepest->root, rest)};
}

bool MountTable::HasDevice(std::string_view device) const {
  return std::ranges::find(rows_, device, &MountRow::device) != rows_.end();
}

}  // namespace holdfast::support
