// A CapabilityReader reads the text files of skills and plugins. It has a bound on each file and one on all that it
// reads, and collects a warning for each file that is left out.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "wire/capability_messages.h"

namespace holdfast::files {

class CapabilityReader {
 public:
  static constexpr size_t kMaxFileBytes = 1u << 20;

  // `room` is what all files together may have in the JSON of the answer; reading a file takes from it.
  CapabilityReader(size_t& room, std::vector<std::string>& warnings) : room_(room), warnings_(warnings) {}

  // Whether the last name of a path may be that of a link. The names before it may be links in any case.
  enum class LastName { kMayBeLink, kIsNoLink };
  // The part of a file that is kept.
  enum class Part { kWhole, kFrontMatter };

  // Returns nothing if there is no regular file at the path, or if it is left out with a warning.
  std::optional<wire::CapabilityFile> Read(const std::string& path, LastName last_name = LastName::kMayBeLink,
                                           Part part = Part::kWhole);

  void Warn(std::string warning) { warnings_.push_back(std::move(warning)); }

 private:
  Result<std::string> ReadText(const std::string& path, LastName last_name) const;
  bool TakeRoom(size_t bytes);

  size_t& room_;
  std::vector<std::string>& warnings_;
  bool is_full_ = false;  // there was no room for a file, and there is a warning about that
};

}  // namespace holdfast::files
