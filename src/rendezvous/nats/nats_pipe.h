// A pipe to another node, over two subjects of NATS: each end listens to one and sends to the other. The end that calls
// (the client's) is opened first, and sends a request; the end that answers (the executor's) speaks first. Messages are
// numbered, and a window bounds what is under way (pipe_flow.h).
//
// The pipe ends when it is closed at either end, when the line to NATS ends, when anything but the next message of the
// other end arrives, or when nothing arrives for a while.
#pragma once

#include <chrono>
#include <deque>
#include <memory>
#include <string>
#include <string_view>

#include "loop/event.h"
#include "loop/event_loop.h"
#include "rendezvous/nats/nats_line.h"
#include "rendezvous/nats/pipe_flow.h"
#include "rendezvous/nats/pipe_settings.h"
#include "rendezvous/relay/pipe.h"

namespace holdfast::rendezvous {

class NatsPipe final : public Pipe, NatsLine::User, public std::enable_shared_from_this<NatsPipe> {
 public:
  struct Subjects {
    std::string listens, sends;
  };
  // The answer to the request of a calling pipe.
  enum class Answer { kNoneYet, kJoined, kRefused, kNobody, kLost };

  static std::shared_ptr<NatsPipe> Open(loop::EventLoop& loop, std::shared_ptr<NatsLine> line, Subjects subjects,
                                        const PipeSettings& settings);
  ~NatsPipe() override;

  // Sends the request for the other end to `subject`; it contains `name`. The answer comes by answered().
  void Call(std::string subject, std::string name);
  Answer answer() const { return answer_; }
  loop::Event& answered() { return answered_; }

  // Tells the other end that this one is there, and watches from here on that both are.
  void Begin();

  void Start(Receiver& receiver) override;
  void Send(std::string_view bytes) override;
  bool congested() const override { return !unsent_.empty() || flow_.sendable() == 0; }
  void SetReading(Reading reading) override;
  void Close() override;

 private:
  using Clock = std::chrono::steady_clock;
  struct Received {
    NatsMessage message;
    std::string_view bytes;  // of the message
  };
  enum class Phase {
    kOpen,
    kLastBytes,  // the other end has closed the pipe; the receiver gets what came before
    kClosing,    // this end has closed the pipe; the other gets what was sent before
    kOver,
  };

  NatsPipe(loop::EventLoop& loop, std::shared_ptr<NatsLine> line, Subjects subjects, const PipeSettings& settings);
  void OnLineEnded() override;
  void ReadInbox();
  void Take(NatsMessage message);
  void Accept(const PipeMessage& decoded, NatsMessage message);
  void SetAnswer(Answer answer);
  void Deliver();
  void TellReceiver();
  size_t SendNow(std::string_view bytes);
  void SendUnsent();
  void Publish(std::string message);
  void LookAtTime();
  void Break();
  void Finish(Phase phase);

  const std::shared_ptr<NatsLine> line_;
  const Subjects subjects_;
  const PipeSettings settings_;
  Phase phase_ = Phase::kOpen;
  Receiver* receiver_ = nullptr;
  Reading reading_ = Reading::kOn;
  bool was_congested_ = false;  // the receiver is told when that is over
  Answer answer_ = Answer::kNoneYet;
  loop::Event answered_;
  PipeFlow flow_;
  std::deque<Received> received_;  // not passed on yet; the window bounds it
  std::string unsent_;             // not in the window; the caller, which sees congested(), bounds it
  Clock::time_point last_sent_, last_heard_, closing_until_;
  std::shared_ptr<NatsPipe> lingering_;  // this pipe, while it is closing
  std::shared_ptr<Doorbell> wake_;       // lets Deliver run outside of the functions of the pipe
  std::unique_ptr<NatsLine::Subscription> subscription_;
  loop::Timer timer_;  // looks twice in each alive interval
};

}  // namespace holdfast::rendezvous
