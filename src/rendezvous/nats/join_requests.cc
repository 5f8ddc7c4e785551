#include "rendezvous/nats/join_requests.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/sha256.h"

namespace holdfast::rendezvous {
namespace {

constexpr size_t kLimit = 256u << 10;                  // for requests of one id that the loop has not seen
constexpr std::chrono::milliseconds kLastWait{1'000};  // for requests that are under way
constexpr char kQueue[] = "nodes";

// Returns whether the text has the form of RandomUuid(). It becomes part of a subject.
bool IsPipeName(std::string_view text) {
  static const std::string pattern = "hhhhhhhh-hhhh-hhhh-hhhh-hhhhhhhhhhhh";
  const auto fits = [](char c, char wanted) {
    return wanted == '-' ? c == '-' : (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
  };
  return text.size() == pattern.size() && std::ranges::equal(text, pattern, fits);
}

}  // namespace

JoinRequests::JoinRequests(loop::EventLoop& loop, std::string subject_prefix, OnRequest on_request)
    : loop_(loop),
      prefix_(std::move(subject_prefix)),
      on_request_(std::move(on_request)),
      timer_(loop, [this] { Forget(); }) {}

std::string JoinRequests::SubjectOf(std::string_view id) const {
  return fmt::format("{}.join.{}", prefix_, Sha256Hex(id));
}

void JoinRequests::Use(std::shared_ptr<NatsLine> line) {
  line_ = std::move(line);
  for (auto& [id, requests] : taken_) requests = Subscribe(id);
}

void JoinRequests::Take(const std::string& id) {
  const auto [place, is_new] = taken_.try_emplace(id);
  if (is_new && line_ != nullptr) place->second = Subscribe(id);
}

void JoinRequests::Leave(const std::string& id) {
  auto left = taken_.extract(id);
  if (left.empty() || left.mapped() == nullptr) return;
  left.mapped()->subscription->Leave();
  leaving_.push_back(std::move(left.mapped()));
  if (!timer_.running()) timer_.Start(kLastWait);
}

void JoinRequests::Forget() {
  left_ = std::exchange(leaving_, {});
  if (!left_.empty()) timer_.Start(kLastWait);
}

std::shared_ptr<JoinRequests::Requests> JoinRequests::Subscribe(const std::string& id) {
  auto requests = std::make_shared<Requests>(id);
  auto inbox = NatsInbox::Make(loop_, kLimit, [this, weak = std::weak_ptr(requests)] {
    if (const auto self = weak.lock()) Read(*self);
  });
  requests->subscription = line_->Subscribe(SubjectOf(id), kQueue, std::move(inbox));
  return requests;
}

// A request that was dropped because the inbox was full is not answered.
void JoinRequests::Read(Requests& requests) {
  for (const NatsMessage& message : requests.subscription->inbox().TakeAll()) {
    if (IsPipeName(message.bytes())) on_request_(requests.id, message.bytes());
  }
}

}  // namespace holdfast::rendezvous
