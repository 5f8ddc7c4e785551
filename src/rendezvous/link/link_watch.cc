#include "rendezvous/link/link_watch.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <span>
#include <utility>

namespace holdfast::rendezvous {
namespace {

using namespace std::chrono_literals;

constexpr auto kInterval = 200ms;  // between two bytes
// The kernel counts from the first repetition of a byte, which comes after a fifth of a second. So the connection ends
// 0.6 to 0.8 s after the other machine has gone.
constexpr auto kUnanswered = 400ms;
constexpr auto kStandsStill = 6'000ms;  // the longest time in which the other node may say nothing

void EndWhenUnanswered(int socket) {
  const auto limit_ms = static_cast<unsigned>(std::chrono::milliseconds(kUnanswered).count());
  (void)::setsockopt(socket, IPPROTO_TCP, TCP_USER_TIMEOUT, &limit_ms, sizeof(limit_ms));  // fails on other sockets
}

}  // namespace

LinkWatch::LinkWatch(loop::EventLoop& loop, std::unique_ptr<transport::ByteStream> stream, transport::Slot slot,
                     std::function<void()> on_ended)
    : stream_(std::move(stream)),
      slot_(std::move(slot)),
      on_ended_(std::move(on_ended)),
      watch_(loop, stream_->fd(),
             [this] {
               if (!ReadAll()) return End();
               watch_.WatchReadable();
             }),
      timer_(loop, [this] { Beat(); }) {
  EndWhenUnanswered(stream_->fd());
  watch_.WatchReadable();
  timer_.Start(kInterval);
}

LinkWatch::~LinkWatch() { CutLinks(); }

// What has arrived is read first: time in which this program did not run does not count as silence. A byte that the
// socket does not accept is not missed.
void LinkWatch::Beat() {
  if (!ReadAll() || Clock::now() - heard_ >= kStandsStill) return End();
  std::erase_if(links_, [](const auto& link) { return link.expired(); });
  char byte = 0;
  const iovec bytes{&byte, 1};
  if (stream_->Write(std::span(&bytes, 1)) < 0 && errno != EAGAIN) return End();
  timer_.Start(kInterval);
}

// Returns false at the end of the stream.
bool LinkWatch::ReadAll() {
  for (;;) {
    std::array<char, 64> bytes;
    const ssize_t count = stream_->Read(bytes);
    if (count <= 0) return count < 0 && errno == EAGAIN;
    heard_ = Clock::now();
  }
}

void LinkWatch::CutLinks() {
  for (const auto& weak : std::exchange(links_, {})) {
    if (const auto link = weak.lock()) link->Cut();
  }
}

void LinkWatch::End() {
  timer_.Stop();
  CutLinks();
  const auto on_ended = std::move(on_ended_);
  on_ended();
}

}  // namespace holdfast::rendezvous
