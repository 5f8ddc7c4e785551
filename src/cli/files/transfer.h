// The copy of one file between this machine and the server. The bytes go to a file beside the destination, which takes
// its name at the end: a copy that fails leaves nothing half written behind.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "cli/terminal/progress.h"
#include "client/files.h"
#include "loop/task.h"

namespace holdfast::cli {

// With kResume, a download that fails keeps what has come, and the next one goes on behind it; a file that is complete
// already is skipped.
enum class Resuming { kNo, kResume };

struct TransferJob {
  std::string from, to;  // absolute paths, one of this machine and one of the server
  uint64_t size = 0;     // of the file, as it was listed
  Resuming resuming = Resuming::kNo;
};

loop::Task<Result<>> DownloadFile(client::Files files, TransferJob job, ProgressBar& progress);
loop::Task<Result<>> UploadFile(client::Files files, TransferJob job, ProgressBar& progress);

}  // namespace holdfast::cli
