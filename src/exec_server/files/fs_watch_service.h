// The service behind fs/watchMissing. It notifies the client once, when a missing path has appeared or the path that
// was present has changed.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "exec_server/files/file_attachment.h"
#include "files/disk/missing_watches.h"
#include "loop/event_loop.h"
#include "loop/permit.h"
#include "loop/task.h"
#include "loop/worker_pool.h"
#include "rpc/reply.h"
#include "wire/fs_handle_messages.h"
#include "wire/sandbox_messages.h"

namespace holdfast::exec_server {

class FsWatchService {
 public:
  // `server_cwd` is the base of a sandbox whose request names no directory.
  FsWatchService(loop::EventLoop& loop, loop::WorkerPool& workers, std::string server_cwd)
      : loop_(loop), workers_(workers), server_cwd_(std::move(server_cwd)) {}

  void WatchMissing(FileAttachment& attachment, const wire::Sandboxed<wire::FsWatchMissingParams>& params,
                    rpc::Reply<wire::FsWatchMissingResult> reply);

 private:
  struct Watcher {
    FileAttachment* attachment;  // outlives its watch
    uint64_t watch_id;
  };

  Result<> Open();
  loop::Task<> Watch(FileAttachment& attachment, uint64_t watch_id, std::vector<std::string> missing,
                     std::optional<std::string> present, rpc::Reply<wire::FsWatchMissingResult> reply);
  void End(uint64_t key);
  void OnReadable();

  loop::EventLoop& loop_;
  loop::WorkerPool& workers_;
  const std::string server_cwd_;
  std::shared_ptr<files::MissingWatches> watches_;  // null before the first request
  std::optional<loop::FdWatch> readable_;
  std::unordered_map<uint64_t, Watcher> watchers_;  // by key
  uint64_t next_key_ = 1;
  loop::Permits permits_{[this](uint64_t key) { End(key); }};
};

}  // namespace holdfast::exec_server
