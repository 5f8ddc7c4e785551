#include "exec_server/methods.h"

#include <utility>

#include "files/operations/table.h"
#include "wire/methods.h"

namespace holdfast::exec_server {
namespace {

// These functions return the part of an attachment that a method works on.
Attachment& AllOf(Attachment& attachment) { return attachment; }
SessionProcesses& ProcessesOf(Attachment& attachment) { return attachment.processes().processes(); }
ProcessRequests& RequestsOf(Attachment& attachment) { return attachment.processes(); }
FileAttachment& FilesOf(Attachment& attachment) { return attachment.files(); }
HttpExchanges& ExchangesOf(Attachment& attachment) { return attachment.exchanges(); }

template <typename Row>
void BindOperation(Methods& table, FsService& fs, const Row& row) {
  auto operate = [&fs, &row](FileAttachment& attachment, const auto& params,
                             rpc::Reply<typename Row::Method::Result>&& reply) {
    fs.Operate(attachment, row, params, std::move(reply));
  };
  table.BindFunction<typename Row::Method>(FilesOf, operate);
}

// Binds fs/open, by which an observer may read files but not write them.
void BindOpen(Methods& table, FsHandleService& handles) {
  auto open = [&handles](Attachment& caller, const wire::FsOpen::Params& params, rpc::Reply<wire::FsHandle>&& reply) {
    if (params.mode.value_or(wire::FsOpenMode::kRead) != wire::FsOpenMode::kRead) {
      if (auto allowed = RequireDriver(caller.role()); !allowed) return reply.Fail(allowed.error());
    }
    handles.Open(caller.files(), params, std::move(reply));
  };
  table.BindFunction<wire::FsOpen>(AllOf, open);
}

}  // namespace

Methods MakeMethods(ServerParts& parts, SessionService& sessions) {
  Methods table;
  table.Bind<wire::GetEnvironmentInfo>(parts.environment, &EnvironmentService::Info);
  table.Bind<wire::GetEnvironmentStatus>(parts.environment, &EnvironmentService::Status);

  table.Bind<wire::ProcessStart>(ProcessesOf, parts.process, &ProcessService::Start);
  table.Bind<wire::ProcessRead>(RequestsOf, parts.process, &ProcessService::Read);
  table.Bind<wire::ProcessWrite>(RequestsOf, parts.process, &ProcessService::Write);
  table.Bind<wire::ProcessCloseStdin>(ProcessesOf, parts.process, &ProcessService::CloseStdin);
  table.Bind<wire::ProcessResize>(ProcessesOf, parts.process, &ProcessService::Resize);
  table.Bind<wire::ProcessSignal>(ProcessesOf, parts.process, &ProcessService::Signal);
  table.Bind<wire::ProcessTerminate>(ProcessesOf, parts.process, &ProcessService::Terminate);
  table.Bind<wire::ProcessWait>(RequestsOf, parts.process, &ProcessService::Wait);
  table.Bind<wire::ProcessSnapshot>(RequestsOf, parts.process, &ProcessService::Snapshot);
  table.Bind<wire::ProcessList>(RequestsOf, parts.process, &ProcessService::List);

  table.Bind<wire::FsReadFile>(FilesOf, parts.fs, &FsService::ReadFile);
  table.Bind<wire::FsGetMetadata>(FilesOf, parts.fs, &FsService::GetMetadata);
  files::ForEachOperation([&](const auto& row) { BindOperation(table, parts.fs, row); });
  BindOpen(table, parts.fs_handles);
  table.Bind<wire::FsReadBlock>(FilesOf, parts.fs_handles, &FsHandleService::ReadBlock);
  table.Bind<wire::FsWriteBlock>(FilesOf, parts.fs_handles, &FsHandleService::WriteBlock);
  table.Bind<wire::FsClose>(FilesOf, parts.fs_handles, &FsHandleService::Close);
  table.Bind<wire::FsWatchMissing>(FilesOf, parts.fs_watches, &FsWatchService::WatchMissing);

  table.Bind<wire::DiscoverRoots>(FilesOf, parts.capabilities, &CapabilityService::DiscoverRoots);
  table.Bind<wire::DiscoverCapabilities>(FilesOf, parts.capabilities, &CapabilityService::Discover);
  table.Bind<wire::ReadEnvironmentConfig>(FilesOf, parts.capabilities, &CapabilityService::ReadConfig);

  table.Bind<wire::SessionTakeOver>(AllOf, sessions, &SessionService::TakeOver);
  table.Bind<wire::SessionKeep>(AllOf, sessions, &SessionService::Keep);
  table.Bind<wire::SessionList>(AllOf, sessions, &SessionService::List);
  table.Bind<wire::SessionEnd>(AllOf, sessions, &SessionService::End);

  table.Bind<wire::HttpRequest>(ExchangesOf, parts.http, &HttpService::Request);
  return table;
}

}  // namespace holdfast::exec_server
