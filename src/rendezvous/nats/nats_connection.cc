#include "rendezvous/nats/nats_connection.h"

#include <algorithm>
#include <cstdlib>
#include <unordered_map>
#include <utility>

#include "base/log.h"
#include "base/mutex.h"

namespace holdfast::rendezvous {
namespace {

constexpr int64_t kConnectMs = 5'000;
constexpr int64_t kWriteMs = 3'000;  // for a server that does not read; the library has no limit of its own
constexpr int64_t kPingMs = 2'000;   // two pings without an answer end the connection
constexpr int kMaxPings = 2;

// The permits of the connections that have not ended. The library may call OnClosed once more after a connection was
// destroyed, so that it gets a number and not a pointer.
class LivingConnections {
 public:
  // The table of the program. It is never destroyed, because threads of the library run until the program has ended.
  static LivingConnections& Get() {
    static LivingConnections& table = *new LivingConnections;
    return table;
  }

  uintptr_t Add(loop::Permit alive) {
    const MutexLock lock(mutex_);
    alive_.emplace(++last_number_, std::move(alive));
    return last_number_;
  }
  void Remove(uintptr_t number) {
    const MutexLock lock(mutex_);
    alive_.erase(number);
  }

 private:
  LivingConnections() = default;

  Mutex mutex_;
  uintptr_t last_number_ GUARDED_BY(mutex_) = 0;
  std::unordered_map<uintptr_t, loop::Permit> alive_ GUARDED_BY(mutex_);
};

void OnClosed(natsConnection*, void* closure) { LivingConnections::Get().Remove(reinterpret_cast<uintptr_t>(closure)); }

// Errors without a call of their own, such as a subject that the account may not use. The library prints them to
// standard error by default.
void OnError(natsConnection*, natsSubscription*, natsStatus status, void*) {
  static const NatsLibrary& library = **NatsLibrary::Load();
  LogWarn("nats.error", {{"reason", library.status_text(status)}});
}

// Returns the host of nats://USER:PASSWORD@HOST:PORT.
std::string HostOf(std::string_view url) {
  url.remove_prefix(std::min(url.find("://") + 3, url.size()));
  url = url.substr(0, url.find('/'));
  if (const size_t at = url.rfind('@'); at != std::string_view::npos) url.remove_prefix(at + 1);
  if (url.starts_with('[')) return std::string(url.substr(1, url.find(']') - 1));
  return std::string(url.substr(0, url.find(':')));
}

using Options = std::unique_ptr<natsOptions, decltype(&::natsOptions_Destroy)>;

// Sets the options one after the other until one cannot be set.
natsStatus SetOptions(const NatsLibrary& library, natsOptions* raw, const NatsConnection::Options& wanted,
                      uintptr_t number) {
  natsStatus status = NATS_OK;
  const auto set = [&](auto function, auto... values) {
    if (status == NATS_OK) status = function(raw, values...);
  };
  set(library.set_url, wanted.url.c_str());
  set(library.set_name, wanted.name.c_str());
  set(library.set_timeout, kConnectMs);
  if (wanted.url.starts_with("tls://")) {
    set(library.set_secure, true);
    set(library.set_expected_hostname, HostOf(wanted.url).c_str());
  }
  if (!wanted.credentials_file.empty()) set(library.set_credentials, wanted.credentials_file.c_str(), nullptr);
  set(library.set_allow_reconnect, false);  // NatsBus connects again, and nothing is buffered meanwhile
  set(library.set_ping_interval, kPingMs);
  set(library.set_max_pings_out, kMaxPings);
  set(library.set_send_asap, true);
  set(library.set_write_deadline, kWriteMs);
  set(library.use_global_delivery, true);  // one thread for all subscriptions, instead of one for each
  set(library.set_fail_requests, true);
  set(library.set_error_handler, &OnError, nullptr);
  // Nothing dereferences the number.
  set(library.set_closed_callback, &OnClosed, reinterpret_cast<void*>(number));  // NOLINT(performance-no-int-to-ptr)
  return status;
}

Result<Options> MakeOptions(const NatsLibrary& library, const NatsConnection::Options& wanted, uintptr_t number) {
  natsOptions* raw = nullptr;
  natsStatus status = library.options_create(&raw);
  Options options(raw, library.options_destroy);
  if (status == NATS_OK) status = SetOptions(library, raw, wanted, number);
  if (status != NATS_OK) return std::unexpected(library.ErrorOf("NATS options", status));
  return options;
}

}  // namespace

NatsConnection::NatsConnection(const NatsLibrary& library, loop::Permit alive)
    : library_(library), number_(LivingConnections::Get().Add(std::move(alive))) {}

Result<std::shared_ptr<NatsConnection>> NatsConnection::Connect(const NatsLibrary& library, const Options& wanted,
                                                                loop::Permit alive) {
  std::shared_ptr<NatsConnection> made(new NatsConnection(library, std::move(alive)));
  TRY(const auto options, MakeOptions(library, wanted, made->number_));
  if (const natsStatus status = library.connect(&made->connection_, options.get()); status != NATS_OK) {
    return std::unexpected(library.ErrorOf("connect to NATS", status));
  }
  return made;
}

NatsConnection::~NatsConnection() {
  LivingConnections::Get().Remove(number_);
  if (connection_ != nullptr) library_.connection_destroy(connection_);
}

Result<std::string> NatsConnection::OwnAddress() const {
  char* raw = nullptr;
  const natsStatus status = library_.client_address(connection_, &raw);
  const std::unique_ptr<char, decltype(&::free)> text(raw, ::free);
  if (status != NATS_OK) return std::unexpected(library_.ErrorOf("ask NATS for the address of this node", status));
  return std::string(raw);
}

}  // namespace holdfast::rendezvous
