#include "client/http_bodies.h"

#include <algorithm>
#include <utility>

namespace holdfast::client {
namespace {

void Fail(HttpBody& body, Error error) {
  if (body.done) return;
  body.error = std::move(error);
  body.done = true;
  body.changed.Notify();
}

}  // namespace

std::shared_ptr<HttpBody> HttpBodies::Expect(const std::string& request_id) {
  auto body = std::make_shared<HttpBody>();
  bodies_[request_id] = body;
  return body;
}

void HttpBodies::OnDelta(wire::HttpBodyDeltaParams delta) {
  auto found = bodies_.find(delta.request_id);
  if (found == bodies_.end()) return;
  const auto body = found->second.lock();
  if (!body || delta.done || delta.error) bodies_.erase(found);
  if (!body) return;
  if (delta.seq != body->next_seq++) return Fail(*body, {ErrorKind::kInternal, "a piece of the HTTP body is missing"});
  std::string piece = std::move(delta.delta).Take();
  body->queued_bytes += piece.size();
  if (!piece.empty()) body->pieces.push_back(std::move(piece));
  if (delta.error) return Fail(*body, {ErrorKind::kSystem, *delta.error});
  body->done = delta.done;
  body->changed.Notify();
}

void HttpBodies::FailAll(const Error& error) {
  for (const auto& [id, waiting] : std::exchange(bodies_, {})) {
    if (const auto body = waiting.lock()) Fail(*body, error);
  }
}

bool HttpBodies::full() const {
  return std::ranges::any_of(bodies_, [](const auto& entry) {
    const auto body = entry.second.lock();
    return body && body->queued_bytes > kMaxQueuedBytes;
  });
}

}  // namespace holdfast::client
