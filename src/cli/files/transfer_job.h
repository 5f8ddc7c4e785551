// The job to copy one file between this machine and the server. The bytes go to a file beside the destination, the
// part, which takes its name at the end: nothing half written has the name of the destination.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace holdfast::cli {

// With kResume, a copy goes on behind the part that an earlier one has left, and keeps its own part if it fails. A file
// gets the time of its source, and one that has the size and the time of its source already is skipped.
enum class Resuming { kNo, kResume };

// The time of a copy: that at which it was made, or that of its source.
enum class FileTimes { kOfCopy, kOfSource };

struct TransferJob {
  std::string from, to;  // absolute paths, one of this machine and one of the server
  // These members describe the source as it was listed.
  uint64_t size = 0;
  int64_t modified_at_ms = 0;
  std::optional<uint64_t> permissions = {};  // absent if the server does not send them
  Resuming resuming = Resuming::kNo;
  FileTimes times = FileTimes::kOfCopy;

  bool resumes() const { return resuming == Resuming::kResume; }
  bool keeps_time() const { return resumes() || times == FileTimes::kOfSource; }
  bool IsSource(uint64_t size_found, int64_t modified_at_ms_found) const {
    return size_found == size && modified_at_ms_found == modified_at_ms;
  }
};

// Returns the path of the part, on the machine of the destination. Its name has the size and the time of the source in
// it, so that two versions of a file are never mixed. All copies use it: one with kResume also finds what a copy
// without it has left when it was killed.
std::string PartOf(const TransferJob& job);

// Returns what the user should know about the part of an upload that could not be removed.
std::string LeftText(const std::string& part);

// The bits that a part has beside the permissions of its source, so that the next copy can go on with it.
inline constexpr uint64_t kPartPermissions = 0600;

}  // namespace holdfast::cli
