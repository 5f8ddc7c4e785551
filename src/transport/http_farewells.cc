#include "transport/http_farewells.h"

#include <array>
#include <cerrno>
#include <span>
#include <utility>

namespace holdfast::transport {

class HttpFarewells::Farewell {
 public:
  Farewell(HttpFarewells& owner, std::unique_ptr<ByteStream> stream, std::string answer, Slot slot)
      : owner_(owner),
        slot_(std::move(slot)),
        stream_(std::move(stream)),
        unsent_(std::move(answer)),
        watch_(
            owner.loop_, stream_->fd(), [this] { OnReadable(); }, [this] { OnWritable(); }),
        timer_(owner.loop_, [this] { End(); }) {}

  void Start(List::iterator self) {
    self_ = self;
    timer_.Start(owner_.limits_.head_timeout);
    watch_.WatchReadable();
    OnWritable();
  }

 private:
  // Discards what the peer sends, until its end. A peer that has only ended its sending side still gets its answer.
  void OnReadable() {
    std::array<char, 16u << 10> chunk;
    const ssize_t count = stream_->Read(chunk);
    const bool ended = count == 0 || (count < 0 && errno != EAGAIN);
    if (!ended) return watch_.WatchReadable();
    input_ended_ = true;
    if (unsent_.empty()) End();
  }

  void OnWritable() {
    while (sent_ < unsent_.size()) {
      const iovec bytes{unsent_.data() + sent_, unsent_.size() - sent_};
      const ssize_t count = stream_->Write(std::span(&bytes, 1));
      if (count < 0 && errno == EAGAIN) return watch_.WatchWritable();
      if (count < 0) return End();
      sent_ += static_cast<size_t>(count);
    }
    unsent_ = std::string();
    stream_->EndWriting();
    if (input_ended_) return End();
    timer_.Start(owner_.limits_.close_timeout);
  }

  void End() { owner_.farewells_.erase(self_); }

  HttpFarewells& owner_;
  Slot slot_;
  std::unique_ptr<ByteStream> stream_;
  std::string unsent_;  // empty once all of it is sent
  size_t sent_ = 0;     // bytes of unsent_ that the stream has accepted
  bool input_ended_ = false;
  loop::FdWatch watch_;
  loop::Timer timer_;
  List::iterator self_;
};

HttpFarewells::HttpFarewells(loop::EventLoop& loop, const Limits& limits) : loop_(loop), limits_(limits) {}
HttpFarewells::~HttpFarewells() = default;

void HttpFarewells::Begin(std::unique_ptr<ByteStream> stream, std::string answer, Slot slot) {
  farewells_.push_front(std::make_unique<Farewell>(*this, std::move(stream), std::move(answer), std::move(slot)));
  farewells_.front()->Start(farewells_.begin());
}

}  // namespace holdfast::transport
