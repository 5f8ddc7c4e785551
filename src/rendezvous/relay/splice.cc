#include "rendezvous/relay/splice.h"

#include <utility>

namespace holdfast::rendezvous {

// The way from one pipe to the other. The source is not read while the target has too much to send.
class Splice::Direction final : public Pipe::Receiver {
 public:
  Direction(Splice& splice, Pipe& source, Pipe& target) : splice_(splice), source_(source), target_(target) {}
  virtual ~Direction() = default;

  void OnBytes(std::string_view bytes) override {
    bytes_ += bytes.size();
    target_.Send(bytes);
    if (target_.congested()) source_.SetReading(Reading::kOff);
  }

  // The source has sent what the target gave it, so the target may be read again.
  void OnDrained() override { target_.SetReading(Reading::kOn); }

  void OnEnded() override { splice_.OnEnded(); }

  uint64_t bytes() const { return bytes_; }

 private:
  Splice& splice_;
  Pipe& source_;
  Pipe& target_;
  uint64_t bytes_ = 0;
};

Splice::Splice(std::shared_ptr<Pipe> a, std::shared_ptr<Pipe> b, std::function<void()> on_ended)
    : a_(std::move(a)),
      b_(std::move(b)),
      on_ended_(std::move(on_ended)),
      there_(std::make_unique<Direction>(*this, *a_, *b_)),
      back_(std::make_unique<Direction>(*this, *b_, *a_)) {
  a_->Start(*there_);
  b_->Start(*back_);
}

Splice::~Splice() { Close(); }

void Splice::Close() {
  a_->Close();
  b_->Close();
}

void Splice::OnEnded() {
  Close();
  const auto on_ended = std::exchange(on_ended_, nullptr);
  if (on_ended) on_ended();
}

uint64_t Splice::bytes() const { return there_->bytes() + back_->bytes(); }

}  // namespace holdfast::rendezvous
