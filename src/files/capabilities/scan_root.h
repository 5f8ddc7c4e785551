// ScanCapabilityRoot finds the skills and the plugin below a directory, and returns the files that a client needs to
// know them.
#pragma once

#include <cstddef>
#include <string>

#include "files/capabilities/capability_reader.h"
#include "wire/capability_messages.h"

namespace holdfast::files {

// What a scan may still use. Several scans may share it.
struct ScanRoom {
  size_t bytes = 16u << 20;  // of the files, as JSON
  size_t directories = 2000;
  size_t entries = 20'000;
};

// Directories down to the sixth level are searched for SKILL.md, also hidden ones and those behind links. A SKILL.md
// that is a link is not one, so that the instructions of a skill lie where the search has found them. `error` in the
// result says that `path` is not a directory.
wire::DiscoveredRoot ScanCapabilityRoot(std::string id, const std::string& path, ScanRoom& room,
                                        CapabilityReader::Part part_of_instructions);

}  // namespace holdfast::files
