#include "cli/files/transfer_job.h"

#include <climits>

#include <fmt/format.h>

#include "base/paths.h"
#include "base/sha256.h"

namespace holdfast::cli {

// A digest stands for a name that would become too long for a file.
std::string PartOf(const TransferJob& job) {
  constexpr size_t kDigits = 32;
  const std::string version = fmt::format(".{}-{}.holdfast-part", job.size, job.modified_at_ms);
  const std::string_view name = NameOf(job.to);
  if (name.size() + version.size() <= NAME_MAX) return job.to + version;
  const std::string directory = job.to.substr(0, job.to.size() - name.size());
  return directory + Sha256Hex(name).substr(0, kDigits) + version;
}

std::string LeftText(const std::string& part) {
  return fmt::format("{} is left on the server, and the same command with --resume goes on with it", part);
}

}  // namespace holdfast::cli
