#include "exec_server/files/fs_watch_service.h"

#include <utility>

#include "base/file_uri.h"
#include "base/log.h"
#include "sandbox/launch/sandbox_spec.h"
#include "wire/notification.h"

namespace holdfast::exec_server {
namespace {

constexpr size_t kMaxMissing = 64;

Result<std::vector<std::string>> ParseAll(const std::vector<std::string>& texts) {
  std::vector<std::string> paths;
  for (const std::string& text : texts) {
    TRY(std::string path, ParsePath(text));
    paths.push_back(std::move(path));
  }
  return paths;
}

Result<std::optional<std::string>> ParsePresent(const std::optional<std::string>& text) {
  if (!text) return std::nullopt;
  return ParsePath(*text);
}

// A watch is the server's own look at the files.
Result<> CheckUnrestricted(const std::optional<wire::Sandbox>& sandbox, const std::string& cwd) {
  TRY(const auto restricted, sandbox::DecodeFileSandbox(sandbox, cwd));
  if (!restricted) return {};
  return Fail(ErrorKind::kInvalidParams, "sandbox: a watch cannot be restricted");
}

}  // namespace

struct FsWatchService::Request {
  Request(uint64_t id, std::vector<std::string> absent, std::weak_ptr<FileSession> from,
          rpc::Reply<wire::FsWatchMissingResult> to)
      : watch_id(id), missing(std::move(absent)), session(std::move(from)), reply(std::move(to)) {}

  uint64_t watch_id, key = 0;
  std::vector<std::string> missing;
  std::optional<std::string> present;
  std::weak_ptr<FileSession> session;
  rpc::Reply<wire::FsWatchMissingResult> reply;
  PathOrder::Turn turn;
  Result<bool> prepared;
};

// Clients count their watches: an id that is not larger than the last is out of date, and a larger one ends the watch
// before it, also when there is nothing to watch.
void FsWatchService::WatchMissing(FileSession& session, const wire::Sandboxed<wire::FsWatchMissingParams>& params,
                                  rpc::Reply<wire::FsWatchMissingResult> reply) {
  if (auto allowed = CheckUnrestricted(params.sandbox, server_cwd_); !allowed) {
    return reply.Fail(allowed.error());
  }
  auto missing = ParseAll(params.missing);
  if (!missing) return reply.Fail(missing.error());
  auto present = ParsePresent(params.present);
  if (!present) return reply.Fail(present.error());
  WatchSlot& slot = session.watch();
  if (slot.last_id && params.watch_id <= *slot.last_id) return reply({false});
  slot.last_id = params.watch_id;
  slot.active.reset();
  if (missing->size() > kMaxMissing) return reply({false});
  if (auto opened = Open(); !opened) return reply.Fail(opened.error());

  std::vector<Claim> claims;
  for (const std::string& path : *missing) claims.push_back({path, Access::kRead});
  auto request =
      std::make_shared<Request>(params.watch_id, *std::move(missing), session.weak_from_this(), std::move(reply));
  if (*present) claims.push_back({**present, Access::kRead});
  request->present = *std::move(present);
  auto entered = session.order().Enter(std::move(claims), [this, request](PathOrder::Turn turn) {
    request->turn = std::move(turn);
    Prepare(request);
  });
  if (!entered) request->reply.Fail(entered.error());
}

Result<> FsWatchService::Open() {
  if (watches_) return {};
  TRY(watches_, files::MissingWatches::Create());
  readable_.emplace(loop_, watches_->fd(), [this] { OnReadable(); });
  readable_->WatchReadable();
  return {};
}

void FsWatchService::Prepare(const std::shared_ptr<Request>& request) {
  request->key = next_key_++;
  auto prepare = [request, watches = watches_] {
    request->prepared = watches->Prepare(request->key, request->missing, request->present);
  };
  workers_.Run(std::move(prepare), [this, request] { OnPrepared(request); });
}

void FsWatchService::OnPrepared(const std::shared_ptr<Request>& request) {
  if (!request->prepared) return request->reply.Fail(request->prepared.error());
  if (!*request->prepared) return request->reply({false});
  const auto session = request->session.lock();
  const bool wanted = session && session->watch().last_id == request->watch_id;
  if (!wanted || !watches_->Start(request->key)) {
    watches_->Remove(request->key);
    return request->reply({false});
  }
  watchers_.emplace(request->key, Watcher{session, request->watch_id});
  // A pointer to nothing, for the sake of its deleter. It goes with the file session, which this service outlives.
  session->watch().active = std::shared_ptr<void>(nullptr, [this, key = request->key](void*) {
    watches_->Remove(key);
    watchers_.erase(key);
  });
  request->reply({true});
}

void FsWatchService::OnReadable() {
  auto changed = watches_->TakeChanged();
  if (!changed) return LogWarn("watch.failed", {{"reason", changed.error().message}});
  for (const uint64_t key : *changed) {
    const auto watcher = watchers_.find(key);
    if (watcher == watchers_.end()) continue;
    const auto [session, watch_id] = watcher->second;
    watchers_.erase(watcher);
    if (auto alive = session.lock()) alive->transport().Send(wire::MissingChangedNotification(watch_id));
  }
  readable_->WatchReadable();
}

}  // namespace holdfast::exec_server
