// A queue of tasks that wait for something which one of them gets at a time, such as a turn or a file helper. Each task
// puts a request into the queue. The source of the turns or helpers owns the queue, goes through the requests in the
// order in which they came, and answers those that it can:
//
//   loop::Task<Turn> Order::Enter(Claims claims) {
//     Waiting::Place place(waiting_, std::move(claims));
//     ServeWaiting();
//     co_return co_await place;
//   }
//   void Order::ServeWaiting() {
//     waiting_.Serve([this](const Claims& claims) -> std::optional<Turn> { ... });
//   }
#pragma once

#include <concepts>
#include <optional>
#include <utility>

#include "loop/task_root.h"

namespace holdfast::loop {

template <typename Request, typename Answer>
class Queue {
 public:
  // A place is a local variable of the task that awaits it. Its request stays in the queue until it is answered or the
  // place is destroyed.
  class Place : public LeavesItsList {
   public:
    Place(Queue& queue, Request wanted) : request_(std::move(wanted)) { queue.waiting_.push_back(*this); }
    Place(const Place&) = delete;
    Place& operator=(const Place&) = delete;

    bool await_ready() const { return answer_.has_value(); }
    void await_suspend(TaskFrame frame) { frame_ = frame; }
    Answer await_resume() { return *std::move(answer_); }

   private:
    friend Queue;

    Request request_;
    std::optional<Answer> answer_;
    TaskFrame frame_;  // empty until the task waits
  };

  Queue() = default;
  ~Queue() {
    if (destroyed_ != nullptr) *destroyed_ = true;
  }
  Queue(const Queue&) = delete;
  Queue& operator=(const Queue&) = delete;

  bool empty() const { return waiting_.empty(); }

  // Calls `answer` for each request, in the order in which they came. A request for which it returns a value leaves the
  // queue. When all requests have been seen, the tasks of the answered requests are resumed. These tasks may destroy
  // the queue and its source, so a source does nothing after this call. When one of these tasks calls Serve, the outer
  // call resumes the tasks that the inner call has answered, so that the stack does not grow with the queue.
  void Serve(std::invocable<const Request&> auto&& answer) {
    for (auto next = waiting_.begin(); next != waiting_.end();) {
      Place& place = *next++;
      place.answer_ = answer(std::as_const(place.request_));
      if (!place.answer_) continue;
      place.unlink();
      answered_.push_back(place);
    }
    ResumeAnswered();
  }

  // Calls `look` for each request that waits, in the order in which they came.
  void ForEach(std::invocable<const Request&> auto&& look) const {
    for (const Place& place : waiting_) look(place.request_);
  }

 private:
  void ResumeAnswered() {
    if (destroyed_ != nullptr) return;
    bool destroyed = false;
    destroyed_ = &destroyed;
    while (!destroyed && !answered_.empty()) {
      Place& first = answered_.front();
      answered_.pop_front();
      first.frame_.Resume();
    }
    if (!destroyed) destroyed_ = nullptr;
  }

  ListOf<Place> waiting_;
  ListOf<Place> answered_;     // the places whose tasks have yet to be resumed
  bool* destroyed_ = nullptr;  // a local flag of the call of ResumeAnswered that is under way; null without such a call
};

}  // namespace holdfast::loop
