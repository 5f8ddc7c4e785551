// The life of a leg, without I/O: what the leg may do at each moment, and which step an event leads to.
//
//   waiting --Join--> joined --SayGoodbye--> goodbye --End--> ended
//
// A link begins as joined. SayGoodbye may come first, and Fail and End at any time.
#pragma once

#include <cstddef>

#include "rendezvous/relay/pipe.h"

namespace holdfast::rendezvous {

class LegLife {
 public:
  // kGoodbye: the receiver has closed the leg, or the leg has broken off the conversation. What is queued is sent, and
  // then the end of the peer is awaited. kFailed: the leg ends at its next turn.
  enum class State { kWaiting, kJoined, kGoodbye, kFailed, kEnded };

  struct Marks {
    size_t high, low;  // of the queue, in bytes: congestion begins and ends
  };
  LegLife(State begin, Marks marks) : marks_(marks), state_(begin) {}

  State state() const { return state_; }
  bool joined() const { return state_ == State::kJoined; }
  bool waiting() const { return state_ == State::kWaiting; }
  bool ended() const { return state_ == State::kEnded; }
  // Returns whether what the peer sends is used. Once the leg is over, it is read and discarded.
  bool over() const { return !joined() && !waiting(); }
  bool reads() const;
  bool congested() const { return congestion_ == Congestion::kYes; }

  // These return whether the step is made now; false if it was made before, or has become pointless.
  bool Join();  // a receiver has come
  bool SayGoodbye();
  bool Fail();
  bool End();

  void SetReading(Reading reading) { reading_ = reading; }

  // The socket is watched once for each time at which it is to become readable or writable.
  bool ArmRead() { return Arm(read_); }
  bool ArmWrite() { return Arm(write_); }
  void OnReadable() { read_ = Watch::kNot; }
  void OnWritable() { write_ = Watch::kNot; }
  bool read_armed() const { return read_ == Watch::kArmed; }

  // The queue has got longer, or shorter. OnSent returns whether that ends a congestion.
  void OnQueued(size_t queue_bytes);
  bool OnSent(size_t queue_bytes);

  // Nothing more is written behind the queue. TakeEndOfWriting returns true once, when the queue is empty.
  void CloseBehindQueue();
  bool TakeEndOfWriting(size_t queue_bytes);

  // The time for a ping has come. Returns false if the peer has not answered the last one.
  bool OnPingTime();
  void OnPong() { pong_ = Pong::kNone; }

 private:
  enum class Watch { kNot, kArmed };
  enum class Congestion { kNo, kYes };
  enum class Writing { kOpen, kLastBytes, kEnded };
  enum class Pong { kNone, kAwaited };

  static bool Arm(Watch& watch);

  const Marks marks_;
  State state_;
  Reading reading_ = Reading::kOn;
  Watch read_ = Watch::kNot, write_ = Watch::kNot;
  Congestion congestion_ = Congestion::kNo;
  Writing writing_ = Writing::kOpen;
  Pong pong_ = Pong::kNone;
};

}  // namespace holdfast::rendezvous
