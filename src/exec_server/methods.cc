#include "exec_server/methods.h"

namespace holdfast::exec_server {

Methods MakeMethods(Services& services) {
  Methods table;
  table.Bind("environment/info", services.environment, &EnvironmentService::Info);
  table.Bind("environment/status", services.environment, &EnvironmentService::Status);

  table.Bind("process/start", services.process, &ProcessService::Start);
  table.Bind("process/read", services.process, &ProcessService::Read);
  table.Bind("process/write", services.process, &ProcessService::Write);
  table.Bind("process/closeStdin", services.process, &ProcessService::CloseStdin);
  table.Bind("process/resize", services.process, &ProcessService::Resize);
  table.Bind("process/signal", services.process, &ProcessService::Signal);
  table.Bind("process/terminate", services.process, &ProcessService::Terminate);
  table.Bind("process/wait", services.process, &ProcessService::Wait);
  table.Bind("process/snapshot", services.process, &ProcessService::Snapshot);
  table.Bind("process/list", services.process, &ProcessService::List);

  table.Bind("fs/readFile", services.fs, &FsService::ReadFile);
  table.Bind("fs/writeFile", services.fs, &FsService::WriteFile);
  table.Bind("fs/createDirectory", services.fs, &FsService::CreateDirectory);
  table.Bind("fs/getMetadata", services.fs, &FsService::GetMetadata);
  table.Bind("fs/canonicalize", services.fs, &FsService::Canonicalize);
  table.Bind("fs/readDirectory", services.fs, &FsService::ReadDirectory);
  table.Bind("fs/remove", services.fs, &FsService::Remove);
  table.Bind("fs/copy", services.fs, &FsService::Copy);
  table.Bind("fs/rename", services.fs, &FsService::Rename);
  table.Bind("fs/walk", services.fs, &FsService::Walk);
  table.Bind("fs/open", services.fs_handles, &FsHandleService::Open);
  table.Bind("fs/readBlock", services.fs_handles, &FsHandleService::ReadBlock);
  table.Bind("fs/writeBlock", services.fs_handles, &FsHandleService::WriteBlock);
  table.Bind("fs/close", services.fs_handles, &FsHandleService::Close);
  table.Bind("fs/watchMissing", services.fs_watches, &FsWatchService::WatchMissing);

  table.Bind("http/request", services.http, &HttpService::Request);
  return table;
}

}  // namespace holdfast::exec_server
