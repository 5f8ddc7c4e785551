#include "rendezvous/link/link_dialler.h"

#include <algorithm>
#include <span>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/format.h>

#include "base/base64.h"
#include "base/log.h"
#include "base/percent.h"
#include "base/random_id.h"
#include "base/shown_text.h"
#include "rendezvous/link/link_proof.h"
#include "transport/dial.h"

namespace holdfast::rendezvous {
namespace {

constexpr std::chrono::milliseconds kMeetTime{2'000};
constexpr std::chrono::milliseconds kAvoided{1'000};  // after an attempt that has failed
constexpr size_t kMaxShownBytes = 200;

std::string RequestText(const transport::WebSocketServer& server, const LinkRequest& request) {
  std::string path = server.target;
  if (path.ends_with('/')) path.pop_back();
  path += request.executor.empty() ? "/links" : "/links/" + PercentEncoded(request.executor);
  const std::string key = RandomSecret().substr(0, 16);  // says nothing; the request has a nonce of its own
  return fmt::format(
      "GET {}?watch={}&nonce={} HTTP/1.1\r\nHost: {}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
      "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: {}\r\nUser-Agent: holdfast\r\n\r\n",
      path, request.watch, request.nonce, transport::NameOf(server), Base64Encode(std::as_bytes(std::span(key))));
}

Result<> CheckAnswer(std::string_view head) {
  if (head.starts_with("HTTP/1.1 101 ")) return {};
  const std::string_view line = head.substr(0, head.find("\r\n"));
  return Fail(ErrorKind::kInvalidRequest, "it answered " + ShownExcerpt(line, kMaxShownBytes));
}

// Checks the proof of the acceptor. It covers the TLS connection unless TLS ends before the node, at a proxy; then the
// certificate of the proxy has to be valid. Sets the binding that both sides have signed.
bool IsProved(std::string_view proof, LinkTerms& terms, std::string_view distrust, std::string_view key) {
  if (IsLinkProof(proof, LinkRole::kAcceptor, terms, key)) return true;
  if (terms.channel_binding.empty() || !distrust.empty()) return false;
  terms.channel_binding.clear();
  return IsLinkProof(proof, LinkRole::kAcceptor, terms, key);
}

}  // namespace

loop::Task<std::expected<std::shared_ptr<Pipe>, NotElsewhere>> LinkDialler::Join(std::string id) {
  auto found = co_await bus_.Find(id);
  if (!found) co_return std::unexpected(NotElsewhere::kNotReady);
  if (found->empty()) co_return std::unexpected(NotElsewhere::kUnknown);
  std::ranges::sort(*found, std::ranges::greater{}, [](const ExecutorElsewhere& it) { return it.record.since_ms; });
  NotElsewhere why = NotElsewhere::kNoneWaits;
  for (const ExecutorElsewhere& elsewhere : *found) {
    if (elsewhere.record.waiting == 0) continue;
    auto joined = co_await JoinAt(elsewhere.node, id);
    if (joined) co_return *std::move(joined);
    why = joined.error();
  }
  co_return std::unexpected(why);
}

// A node that has ended leaves a name behind that no other node will have.
std::shared_ptr<LinkDialler::Neighbour> LinkDialler::NeighbourAt(const NodePlace& place) {
  std::erase_if(neighbours_, [](const auto& entry) {
    const Neighbour& it = *entry.second;
    return it.watch == nullptr && !it.is_dialled && !it.is_avoided();
  });
  auto& neighbour = neighbours_[place.name];
  if (neighbour == nullptr) neighbour = std::make_shared<Neighbour>();
  neighbour->place = place;
  return neighbour;
}

loop::Task<std::expected<std::shared_ptr<Pipe>, NotElsewhere>> LinkDialler::JoinAt(NodePlace place, std::string id) {
  const auto neighbour = NeighbourAt(place);
  if (neighbour->watch == nullptr && !neighbour->is_avoided()) {
    if (!std::exchange(neighbour->is_dialled, true)) scope_.Start(BeginWatch(neighbour));
    while (neighbour->is_dialled) co_await neighbour->dialled.Next();
  }
  if (neighbour->watch == nullptr) co_return std::unexpected(NotElsewhere::kUnreachable);
  const LinkRequest request{.watch = neighbour->watch_name, .nonce = RandomSecret(), .executor = id};
  auto met = co_await Meet(place, request);
  if (!met) Avoid(*neighbour, met.error());
  const bool is_watched = neighbour->watch != nullptr && neighbour->watch_name == request.watch;
  if (!met || !is_watched) co_return std::unexpected(NotElsewhere::kUnreachable);
  if (met->verdict == LinkVerdict::kUnknownWatch) neighbour->watch.reset();
  if (met->verdict != LinkVerdict::kGranted) co_return std::unexpected(NotElsewhere::kNoneWaits);
  std::string rest = met->talk.TakeRest();
  auto link = Leg::Link(
      loop_, {.stream = met->talk.TakeStream(), .peer = {}, .key = {}, .early_input = std::move(rest), .slot = {}}, {});
  neighbour->watch->Add(link);
  co_return link;
}

loop::Task<> LinkDialler::BeginWatch(std::shared_ptr<Neighbour> neighbour) {
  const LinkRequest request{.watch = RandomUuid(), .nonce = RandomSecret(), .executor = {}};
  auto met = co_await Meet(neighbour->place, request);
  neighbour->is_dialled = false;
  if (met) {
    neighbour->watch_name = request.watch;
    neighbour->watch =
        std::make_unique<LinkWatch>(loop_, met->talk.TakeStream(), transport::Slot(), [place = neighbour.get()] {
          LogWarn("node.lost", {{"url", place->place.url}});
          place->watch.reset();
        });
  } else {
    Avoid(*neighbour, met.error());
  }
  neighbour->dialled.Notify();
}

void LinkDialler::Avoid(Neighbour& neighbour, const Error& reason) {
  if (!neighbour.is_avoided()) {
    LogWarn("node.unreachable", {{"url", neighbour.place.url}, {"reason", reason.message}});
  }
  neighbour.avoided_until = Clock::now() + kAvoided;
}

Result<transport::WebSocketServer> LinkDialler::ServerAt(const std::string& url) {
  TRY(transport::ServerUrl parsed, transport::ParseServerUrl(url));
  auto* const server = std::get_if<transport::WebSocketServer>(&parsed);
  if (server == nullptr) return Fail(ErrorKind::kInvalidParams, "its URL is not one of HTTP");
  if (plain_ == PlainLinks::kOnThisMachine && transport::IsReadableOnTheWay(parsed)) {
    return Fail(ErrorKind::kPermissionDenied,
                "it has no https URL, and others could read what is sent (--insecure-node-http allows it)");
  }
  if (server->security == transport::Security::kTls && !tls_) {
    TRY(tls_, transport::TlsContext::ForClient(""));
  }
  return std::move(*server);
}

// Dials a node and goes through the proof of both sides.
loop::Task<Result<LinkDialler::Met>> LinkDialler::Meet(NodePlace place, LinkRequest request) {
  const auto server = ServerAt(place.url);
  if (!server) co_return std::unexpected(server.error());
  loop::Deadline deadline(loop_, kMeetTime);
  auto dialled = co_await transport::DialStream(loop_, *server, tls_, kMeetTime);
  if (!dialled) co_return std::unexpected(dialled.error());
  LinkTalk talk(loop_, std::move(dialled->stream));
  LinkTerms terms{.node = place.name,
                  .url = place.url,
                  .watch = request.watch,
                  .executor = request.executor,
                  .dialler_nonce = request.nonce,
                  .acceptor_nonce = {},
                  .channel_binding = talk.ChannelBinding()};
  const auto proved =
      co_await Prove(talk, RequestText(*server, request), dialled->distrust, std::move(terms), deadline);
  if (!proved) co_return std::unexpected(proved.error());
  const auto verdict = co_await talk.Receive(1, deadline);
  if (!verdict) co_return std::unexpected(verdict.error());
  co_return Met{static_cast<LinkVerdict>(verdict->front()), std::move(talk)};
}

loop::Task<Result<>> LinkDialler::Prove(LinkTalk& talk, std::string request, std::string distrust, LinkTerms terms,
                                        loop::Deadline& deadline) {
  if (const auto sent = talk.Send(request); !sent) co_return sent;
  const auto head = co_await talk.ReceiveHead(deadline);
  if (!head) co_return std::unexpected(head.error());
  if (const auto agreed = CheckAnswer(*head); !agreed) co_return agreed;
  const auto proof = co_await talk.Receive(kLinkNonceBytes + kLinkProofBytes, deadline);
  if (!proof) co_return std::unexpected(proof.error());
  terms.acceptor_nonce = proof->substr(0, kLinkNonceBytes);
  if (!IsProved(proof->substr(kLinkNonceBytes), terms, distrust, bus_.ticket_key())) {
    co_return Fail(ErrorKind::kPermissionDenied, "it could not prove that it is the node of that URL" +
                                                     (distrust.empty() ? "" : ", and " + distrust));
  }
  co_return talk.Send(LinkProof(LinkRole::kDialler, terms, bus_.ticket_key()));
}

}  // namespace holdfast::rendezvous
