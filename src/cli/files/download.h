// The copy of one file from the server to this machine.
#pragma once

#include "base/result.h"
#include "cli/files/transfer_job.h"
#include "cli/terminal/progress.h"
#include "client/files.h"
#include "loop/task.h"

namespace holdfast::cli {

loop::Task<Result<>> DownloadFile(client::Files files, TransferJob job, ProgressBar& progress);

}  // namespace holdfast::cli
