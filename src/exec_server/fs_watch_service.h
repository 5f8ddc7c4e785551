// fs/watchMissing: tells once when something appears where nothing was, or changes where something was.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "exec_server/runtime.h"
#include "exec_server/session.h"
#include "fs/missing_watches.h"
#include "loop/event_loop.h"
#include "rpc/reply.h"
#include "wire/fs_handle_messages.h"
#include "wire/sandbox_messages.h"

namespace holdfast::exec_server {

class FsWatchService {
 public:
  explicit FsWatchService(Runtime& runtime) : runtime_(runtime) {}

  void WatchMissing(Session& session, const wire::Sandboxed<wire::FsWatchMissingParams>& params,
                    rpc::Reply<wire::FsWatchMissingResult> reply);

 private:
  struct Request;
  struct Watcher {
    std::weak_ptr<Attachment> attachment;
    uint64_t watch_id;
  };

  Result<> Open();
  void Prepare(const std::shared_ptr<Request>& request);
  void OnPrepared(const std::shared_ptr<Request>& request);
  void OnReadable();

  Runtime& runtime_;
  std::shared_ptr<fs::MissingWatches> watches_;  // from the first request on
  std::optional<loop::FdWatch> readable_;
  std::unordered_map<uint64_t, Watcher> watchers_;  // by key
  uint64_t next_key_ = 1;
};

}  // namespace holdfast::exec_server
