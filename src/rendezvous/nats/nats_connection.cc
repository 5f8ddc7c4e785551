#include "rendezvous/nats/nats_connection.h"

#include <algorithm>
#include <array>
#include <limits>

#include <fmt/format.h>

#include "base/log.h"
#include "rendezvous/nats/closure_table.h"
#include "rendezvous/nats/pipe_flow.h"

namespace holdfast::rendezvous {
namespace {

constexpr int64_t kConnectMs = 5'000;
constexpr int64_t kWriteMs = 3'000;  // for a server that does not read; the library has no limit of its own
constexpr int64_t kPingMs = 2'000;   // two pings without an answer end the connection
constexpr int kMaxPings = 2;
constexpr int kBufferBytes = 128 << 10;  // a message of data fits in, and leaves in one call
constexpr int64_t kLargestMessage = kPipeHeaderBytes + kMaxPipeData;

void OnMessage(natsConnection*, natsSubscription*, natsMsg* message, void* closure) {
  static const NatsLibrary& library = **NatsLibrary::Load();
  NatsInbox::Deliver(closure, NatsMessage(library, message));
}

void OnClosed(natsConnection*, void* closure) {
  if (const auto bell = ClosureTable<Doorbell>::Get().Find(closure)) bell->Ring();
}

// Errors without a call of their own, such as a subject that the account may not use. The library prints them to
// standard error by default. A subscription that is flooded ends its pipe, and is no news for the log.
void OnError(natsConnection*, natsSubscription*, natsStatus status, void*) {
  if (status == NATS_SLOW_CONSUMER) return;
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
                      void* closure) {
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
  set(library.set_no_echo, true);  // the requests of a node are for others
  set(library.set_send_asap, true);
  set(library.set_io_buffer, kBufferBytes);
  set(library.set_write_deadline, kWriteMs);
  set(library.use_global_delivery, true);  // one thread for all subscriptions, instead of one for each
  set(library.set_fail_requests, true);
  set(library.set_error_handler, &OnError, nullptr);
  set(library.set_closed_callback, &OnClosed, closure);
  return status;
}

Result<Options> MakeOptions(const NatsLibrary& library, const NatsConnection::Options& wanted, void* closure) {
  natsOptions* raw = nullptr;
  natsStatus status = library.options_create(&raw);
  Options options(raw, library.options_destroy);
  if (status == NATS_OK) status = SetOptions(library, raw, wanted, closure);
  if (status != NATS_OK) return std::unexpected(library.ErrorOf("NATS options", status));
  return options;
}

int AsInt(size_t size) { return static_cast<int>(std::min<size_t>(size, std::numeric_limits<int>::max())); }

}  // namespace

Result<std::shared_ptr<NatsConnection>> NatsConnection::Connect(const NatsLibrary& library, const Options& wanted,
                                                                const std::shared_ptr<Doorbell>& on_closed) {
  std::shared_ptr<NatsConnection> made(new NatsConnection(library, ClosureTable<Doorbell>::Get().Add(on_closed)));
  TRY(const auto options, MakeOptions(library, wanted, made->closure_));
  if (const natsStatus status = library.connect(&made->connection_, options.get()); status != NATS_OK) {
    return std::unexpected(library.ErrorOf("connect to NATS", status));
  }
  if (const int64_t largest = library.max_payload(made->connection_); largest < kLargestMessage) {
    return Fail(ErrorKind::kLimit,
                fmt::format("connect to NATS: the server's max_payload is {}, but {} bytes are needed", largest,
                            kLargestMessage));
  }
  return made;
}

NatsConnection::~NatsConnection() {
  ClosureTable<Doorbell>::Get().Remove(closure_);
  if (connection_ != nullptr) library_.connection_destroy(connection_);
}

Result<> NatsConnection::Publish(const std::string& subject, const std::string& reply, std::string_view bytes) {
  const natsStatus status =
      reply.empty()
          ? library_.publish(connection_, subject.c_str(), bytes.data(), AsInt(bytes.size()))
          : library_.publish_request(connection_, subject.c_str(), reply.c_str(), bytes.data(), AsInt(bytes.size()));
  if (status != NATS_OK) return std::unexpected(library_.ErrorOf("publish", status));
  return {};
}

Result<NatsSubscription> NatsConnection::Subscribe(const std::string& subject, const std::string& queue,
                                                   const NatsInbox& inbox) {
  natsSubscription* raw = nullptr;
  natsStatus status =
      queue.empty()
          ? library_.subscribe(&raw, connection_, subject.c_str(), &OnMessage, inbox.closure())
          : library_.queue_subscribe(&raw, connection_, subject.c_str(), queue.c_str(), &OnMessage, inbox.closure());
  NatsSubscription subscription(raw, library_.subscription_destroy);
  const int max_messages = AsInt(inbox.limit() / kMessageCost);
  if (status == NATS_OK) status = library_.set_pending_limits(raw, max_messages, AsInt(inbox.limit()));
  if (status != NATS_OK) return std::unexpected(library_.ErrorOf("subscribe", status));
  return subscription;
}

}  // namespace holdfast::rendezvous
