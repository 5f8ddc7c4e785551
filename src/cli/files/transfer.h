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

// With kResume, a download that fails keeps what has come, and the next one goes on behind it. The name of the part has
// the size and the time of the source in it, so that two versions of a file are never mixed. A file gets the time of
// its source, and one that has the size and the time of its source already is skipped.
enum class Resuming { kNo, kResume };

struct TransferJob {
  std::string from, to;        // absolute paths, one of this machine and one of the server
  uint64_t size = 0;           // of the file, as it was listed
  int64_t modified_at_ms = 0;  // only for downloads
  Resuming resuming = Resuming::kNo;
};

loop::Task<Result<>> DownloadFile(client::Files files, TransferJob job, ProgressBar& progress);
loop::Task<Result<>> UploadFile(client::Files files, TransferJob job, ProgressBar& progress);

}  // namespace holdfast::cli
