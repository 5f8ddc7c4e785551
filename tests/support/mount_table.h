// MountTable is what /proc/PID/mountinfo shows: the mounts of a mount namespace, and which of them a path can lead to.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::support {

struct MountRow {
  int id = 0, parent = 0;
  std::string device;  // of the file system: "major:minor"
  std::string root;    // the directory or file of the file system that is mounted
  std::string point;   // where it is mounted
  std::set<std::string> flags;
  std::vector<std::string> propagation;  // such as "shared:1"; empty for a private mount
  std::string type;

  bool IsWritable() const { return flags.contains("rw"); }
};

// A place in a file system.
struct MountPlace {
  std::string device, root;
};

class MountTable {
 public:
  explicit MountTable(const std::string& mountinfo);

  const std::vector<MountRow>& rows() const { return rows_; }

  // Returns the mounts that no other one hides.
  std::vector<const MountRow*> Visible() const;

  // Returns the mount that a path is the mount point of, or null.
  const MountRow* VisibleAt(std::string_view path) const;

  // Returns the place that a path without links leads to.
  MountPlace PlaceOf(const std::string& path) const;

  bool HasDevice(std::string_view device) const;

 private:
  void AddVisible(const MountRow& mount, std::vector<const MountRow*>& visible) const;

  std::vector<MountRow> rows_;
};

}  // namespace holdfast::support
