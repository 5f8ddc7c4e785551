#include "exec_server/methods.h"

namespace holdfast::exec_server {

Methods MakeMethods(ProcessService& process) {
  Methods table;
  table.Bind("process/start", process, &ProcessService::Start);
  table.Bind("process/read", process, &ProcessService::Read);
  table.Bind("process/write", process, &ProcessService::Write);
  table.Bind("process/closeStdin", process, &ProcessService::CloseStdin);
  table.Bind("process/resize", process, &ProcessService::Resize);
  table.Bind("process/signal", process, &ProcessService::Signal);
  table.Bind("process/terminate", process, &ProcessService::Terminate);
  table.Bind("process/wait", process, &ProcessService::Wait);
  table.Bind("process/snapshot", process, &ProcessService::Snapshot);
  table.Bind("process/list", process, &ProcessService::List);
  return table;
}

}  // namespace holdfast::exec_server
