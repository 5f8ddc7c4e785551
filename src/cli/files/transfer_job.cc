#include "cli/files/transfer_job.h"

#include <fmt/format.h>

namespace holdfast::cli {

std::string PartOf(const TransferJob& job) {
  constexpr const char* kPart = ".holdfast-part";
  if (!job.resumes()) return fmt::format("{}{}", job.to, kPart);
  return fmt::format("{}.{}-{}{}", job.to, job.size, job.modified_at_ms, kPart);
}

}  // namespace holdfast::cli
