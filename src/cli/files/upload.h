// The copy of one file from this machine to the server.
#pragma once

#include "base/result.h"
#include "cli/files/transfer_job.h"
#include "cli/terminal/progress.h"
#include "client/files.h"
#include "loop/task.h"

namespace holdfast::cli {

// To a server that cannot update files, every copy is made from its beginning, and gets the usual permissions.
loop::Task<Result<>> UploadFile(client::Files files, TransferJob job, ProgressBar& progress);

}  // namespace holdfast::cli
