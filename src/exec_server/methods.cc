#include "exec_server/methods.h"

#include <utility>

#include "files/operations/table.h"

namespace holdfast::exec_server {
namespace {

// These functions return the part of a session that a method works on.
SessionProcesses& ProcessesOf(Session& session) { return session.processes(); }
FileSession& FilesOf(Session& session) { return session.files(); }
HttpExchanges& ExchangesOf(Session& session) { return session.exchanges(); }

template <typename Params, typename T>
void BindOperation(Methods& table, FsService& fs, const files::OperationRow<Params, T>& row) {
  auto operate = [&fs, &row](FileSession& session, const wire::Sandboxed<Params>& params, rpc::Reply<T> reply) {
    fs.Operate(session, row, params, std::move(reply));
  };
  table.BindFunction<wire::Sandboxed<Params>, T>(row.method, FilesOf, operate);
}

}  // namespace

Methods MakeMethods(ServerParts& parts) {
  Methods table;
  table.Bind("environment/info", parts.environment, &EnvironmentService::Info);
  table.Bind("environment/status", parts.environment, &EnvironmentService::Status);

  table.Bind("process/start", ProcessesOf, parts.process, &ProcessService::Start);
  table.Bind("process/read", ProcessesOf, parts.process, &ProcessService::Read);
  table.Bind("process/write", ProcessesOf, parts.process, &ProcessService::Write);
  table.Bind("process/closeStdin", ProcessesOf, parts.process, &ProcessService::CloseStdin);
  table.Bind("process/resize", ProcessesOf, parts.process, &ProcessService::Resize);
  table.Bind("process/signal", ProcessesOf, parts.process, &ProcessService::Signal);
  table.Bind("process/terminate", ProcessesOf, parts.process, &ProcessService::Terminate);
  table.Bind("process/wait", ProcessesOf, parts.process, &ProcessService::Wait);
  table.Bind("process/snapshot", ProcessesOf, parts.process, &ProcessService::Snapshot);
  table.Bind("process/list", ProcessesOf, parts.process, &ProcessService::List);

  table.Bind("fs/readFile", FilesOf, parts.fs, &FsService::ReadFile);
  table.Bind(files::kGetMetadata.method, FilesOf, parts.fs, &FsService::GetMetadata);
  files::ForEachOperation([&](const auto& row) { BindOperation(table, parts.fs, row); });
  table.Bind(files::kOpen.method, FilesOf, parts.fs_handles, &FsHandleService::Open);
  table.Bind("fs/readBlock", FilesOf, parts.fs_handles, &FsHandleService::ReadBlock);
  table.Bind("fs/writeBlock", FilesOf, parts.fs_handles, &FsHandleService::WriteBlock);
  table.Bind("fs/close", FilesOf, parts.fs_handles, &FsHandleService::Close);
  table.Bind("fs/watchMissing", FilesOf, parts.fs_watches, &FsWatchService::WatchMissing);

  table.Bind("http/request", ExchangesOf, parts.http, &HttpService::Request);
  return table;
}

}  // namespace holdfast::exec_server
