#include "transport/waiting_call.h"

#include <array>
#include <cerrno>
#include <span>
#include <utility>

#include "base/check.h"
#include "transport/http_request.h"

namespace holdfast::transport {
namespace {

// A well-behaved peer sends nothing before it has its answer. A peer that sends more than this counts as gone: its end
// could not be noticed behind bytes that nobody reads.
constexpr size_t kMaxEarlyBytes = 64u << 10;

}  // namespace

WaitingCall::WaitingCall(loop::EventLoop& loop, HttpMessage request, UpgradedSocket socket,
                         std::weak_ptr<HttpFarewells> farewells)
    : request_(std::move(request)),
      asks_for_web_socket_(!socket.key.empty()),
      socket_(std::move(socket)),
      farewells_(std::move(farewells)),
      peer_(socket_.peer),
      watch_(
          std::in_place, loop, socket_.stream->fd(),
          [this] {
            read_armed_ = false;
            OnReady();
          },
          [this] { OnReady(); }) {
  OnReady();
}

// Reads until the stream has no more, because it may hold bytes that its descriptor does not show.
void WaitingCall::OnReady() {
  while (socket_.early_input.size() <= kMaxEarlyBytes) {
    std::array<char, 4u << 10> chunk;
    const ssize_t count = socket_.stream->Read(chunk);
    if (count == 0 || (count < 0 && errno != EAGAIN)) return OnGone();
    if (count < 0) return Wait();
    socket_.early_input.append(chunk.data(), static_cast<size_t>(count));
  }
  OnGone();
}

void WaitingCall::Wait() {
  if (!std::exchange(read_armed_, true)) watch_->WatchReadable();
  if (socket_.stream->has_unsent()) watch_->WatchWritable();
}

void WaitingCall::OnGone() {
  watch_.reset();
  gone_ = true;
}

void WaitingCall::Answer(HttpResponse response) {
  CHECK(socket_.stream != nullptr);
  watch_.reset();
  HttpAnswer answer = AnswerTo(request_, response);
  auto stream = std::move(socket_.stream);
  if (const auto farewells = farewells_.lock()) {
    Slot slots = std::make_shared<std::pair<Slot, Slot>>(std::move(socket_.slot), std::move(response.slot));
    return farewells->Begin(std::move(stream), std::move(answer.bytes), std::move(slots));
  }
  const iovec bytes{answer.bytes.data(), answer.bytes.size()};
  (void)stream->Write(std::span(&bytes, 1));  // the listener has stopped: the answer is worth one attempt
  stream->EndWriting();
}

UpgradedSocket WaitingCall::TakeUpgrade() {
  CHECK(socket_.stream != nullptr && asks_for_web_socket_);
  watch_.reset();
  return std::move(socket_);
}

}  // namespace holdfast::transport
