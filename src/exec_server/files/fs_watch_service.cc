#include "exec_server/files/fs_watch_service.h"

#include <memory>
#include <utility>

#include "base/file_uri.h"
#include "base/log.h"
#include "sandbox/policy/sandbox_spec.h"
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

// Fails if the sandbox restricts access to files. The server itself watches the files, outside of any sandbox.
Result<> CheckUnrestricted(const std::optional<wire::Sandbox>& sandbox, const std::string& cwd) {
  TRY(const auto restricted, sandbox::DecodeFileSandbox(sandbox, cwd));
  if (!restricted) return {};
  return Fail(ErrorKind::kInvalidParams, "sandbox: fs/watchMissing does not work under a sandbox that restricts files");
}

}  // namespace

// Clients number their watches. A request whose id is not larger than the last one is out of date. A larger id ends the
// watch before it, even if the request then has nothing to watch.
void FsWatchService::WatchMissing(FileAttachment& attachment, const wire::Sandboxed<wire::FsWatchMissingParams>& params,
                                  rpc::Reply<wire::FsWatchMissingResult> reply) {
  if (auto allowed = CheckUnrestricted(params.sandbox, server_cwd_); !allowed) {
    return reply.Fail(allowed.error());
  }
  auto missing = ParseAll(params.missing);
  if (!missing) return reply.Fail(missing.error());
  auto present = ParsePresent(params.present);
  if (!present) return reply.Fail(present.error());
  WatchSlot& slot = attachment.watch();
  if (slot.last_id && params.watch_id <= *slot.last_id) return reply({false});
  slot.last_id = params.watch_id;
  slot.active = {};
  if (missing->size() > kMaxMissing) return reply({false});
  if (auto opened = Open(); !opened) return reply.Fail(opened.error());

  attachment.Start(Watch(attachment, params.watch_id, *std::move(missing), *std::move(present), std::move(reply)));
}

Result<> FsWatchService::Open() {
  if (watches_) return {};
  TRY(watches_, files::MissingWatches::Create());
  readable_.emplace(loop_, watches_->fd(), [this] { OnReadable(); });
  readable_->WatchReadable();
  return {};
}

// The worker keeps the permit until it is done. So if the connection ends meanwhile, the prepared watch is removed
// afterwards.
loop::Task<> FsWatchService::Watch(FileAttachment& attachment, uint64_t watch_id, std::vector<std::string> missing,
                                   std::optional<std::string> present, rpc::Reply<wire::FsWatchMissingResult> reply) {
  std::vector<Claim> claims;
  claims.reserve(missing.size() + 1);
  for (const std::string& path : missing) claims.push_back({path, Access::kRead});
  if (present) claims.push_back({*present, Access::kRead});
  const auto turn = co_await attachment.order().Enter(std::move(claims));
  if (!turn) co_return reply.Fail(turn.error());

  const uint64_t key = next_key_++;
  const auto watch = std::make_shared<loop::Permit>(permits_.Issue(key));
  auto prepare = [watches = watches_, key, missing = std::move(missing), present = std::move(present)] {
    return watches->Prepare(key, missing, present);
  };
  const auto prepared = co_await workers_.Do(std::move(prepare), watch);
  if (!prepared) co_return reply.Fail(prepared.error());
  const bool is_latest = attachment.watch().last_id == watch_id;
  if (!*prepared || !is_latest || !watches_->Start(key)) co_return reply({false});
  watchers_.emplace(key, Watcher{&attachment, watch_id});
  attachment.watch().active = std::move(*watch);
  reply({true});
}

void FsWatchService::End(uint64_t key) {
  watches_->Remove(key);
  watchers_.erase(key);
}

void FsWatchService::OnReadable() {
  auto changed = watches_->TakeChanged();
  if (!changed) return LogWarn("watch.failed", {{"reason", changed.error().message}});
  for (const uint64_t key : *changed) {
    const auto watcher = watchers_.find(key);
    if (watcher == watchers_.end()) continue;
    const auto [attachment, watch_id] = watcher->second;
    watchers_.erase(watcher);
    attachment->transport().Send(wire::MissingChangedNotification(watch_id));
  }
  readable_->WatchReadable();
}

}  // namespace holdfast::exec_server
