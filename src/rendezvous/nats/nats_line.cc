#include "rendezvous/nats/nats_line.h"

#include <map>
#include <utility>
#include <vector>

#include "base/log.h"
#include "base/mutex.h"

namespace holdfast::rendezvous {
namespace {

constexpr std::chrono::milliseconds kLastWait{200};

}  // namespace

// The orders of the loop on their way to the worker that carries them out. At any moment one worker does so at most.
struct NatsLine::Outgoing {
  enum class Next { kOrders, kRelease, kNothing };

  void Work();
  Next Take(std::vector<Order>& orders);
  void CarryOut(std::vector<Order> orders);

  // Only the worker uses these members, from Begin on.
  std::shared_ptr<NatsConnection> connection;
  std::map<uint64_t, NatsSubscription> subscriptions;

  Mutex mutex;
  Condition idle;
  std::vector<Order> waiting GUARDED_BY(mutex);
  bool working GUARDED_BY(mutex) = false;    // a job is queued or runs
  bool releasing GUARDED_BY(mutex) = false;  // the job ends by giving up the connection, and no other follows
  std::string failure GUARDED_BY(mutex);     // the first; no order is carried out after it
};

// Takes the orders that have come since the last call. If there is nothing to do, the job has ended with this call, and
// another one may be running when it returns.
NatsLine::Outgoing::Next NatsLine::Outgoing::Take(std::vector<Order>& orders) {
  const MutexLock lock(mutex);
  if (releasing) return Next::kRelease;
  if (!failure.empty()) waiting.clear();
  orders = std::exchange(waiting, {});
  if (!orders.empty()) return Next::kOrders;
  working = false;
  idle.NotifyAll();
  return Next::kNothing;
}

void NatsLine::Outgoing::CarryOut(std::vector<Order> orders) {
  for (Order& order : orders) {
    const Result<> done = order(*this);
    if (done) continue;
    const MutexLock lock(mutex);
    failure = done.error().message;
    return;
  }
}

void NatsLine::Outgoing::Work() {
  const NatsCalls calls(connection->library());
  std::vector<Order> orders;
  Next next = Take(orders);
  for (; next == Next::kOrders; next = Take(orders)) CarryOut(std::move(orders));
  if (next != Next::kRelease) return;
  subscriptions.clear();
  connection.reset();
}

NatsLine::Subscription::Subscription(std::shared_ptr<NatsLine> line, uint64_t number, std::shared_ptr<NatsInbox> inbox)
    : line_(std::move(line)), number_(number), inbox_(std::move(inbox)) {}

NatsLine::Subscription::~Subscription() {
  inbox_->Close();
  line_->Queue([number = number_](Outgoing& outgoing) -> Result<> {
    outgoing.subscriptions.erase(number);
    return {};
  });
}

// A subscription that cannot be drained has ended.
void NatsLine::Subscription::Leave() {
  line_->Queue([number = number_](Outgoing& outgoing) -> Result<> {
    const auto found = outgoing.subscriptions.find(number);
    if (found != outgoing.subscriptions.end()) {
      (void)outgoing.connection->library().subscription_drain(found->second.get());
    }
    return {};
  });
}

NatsLine::NatsLine(loop::WorkerPool& workers) : workers_(workers), outgoing_(std::make_shared<Outgoing>()) {}

std::shared_ptr<NatsLine> NatsLine::Make(loop::EventLoop& loop, loop::WorkerPool& workers) {
  std::shared_ptr<NatsLine> line(new NatsLine(workers));
  line->bell_ = std::make_shared<Doorbell>(loop, [line = std::weak_ptr(line)] {
    if (const auto self = line.lock()) self->End();
  });
  return line;
}

NatsLine::~NatsLine() { bell_->Silence(); }

void NatsLine::Begin(std::shared_ptr<NatsConnection> connection) {
  if (ended_) return workers_.Run([dropped = std::move(connection)]() mutable { dropped.reset(); }, [] {});
  outgoing_->connection = std::move(connection);
  has_begun_ = true;
}

void NatsLine::AddUser(User& user) { users_.push_back(user); }

void NatsLine::PublishRequest(std::string subject, std::string reply, std::string bytes) {
  Queue([subject = std::move(subject), reply = std::move(reply), bytes = std::move(bytes)](Outgoing& outgoing) {
    return outgoing.connection->Publish(subject, reply, bytes);
  });
}

std::unique_ptr<NatsLine::Subscription> NatsLine::Subscribe(std::string subject, std::string queue,
                                                            std::shared_ptr<NatsInbox> inbox) {
  const uint64_t number = ++last_subscription_;
  Queue([number, subject = std::move(subject), queue = std::move(queue), inbox](Outgoing& outgoing) -> Result<> {
    TRY(auto subscription, outgoing.connection->Subscribe(subject, queue, *inbox));
    outgoing.subscriptions.emplace(number, std::move(subscription));
    return {};
  });
  return std::make_unique<Subscription>(shared_from_this(), number, std::move(inbox));
}

void NatsLine::Queue(Order order) {
  if (ended_) return;
  {
    const MutexLock lock(outgoing_->mutex);
    outgoing_->waiting.push_back(std::move(order));
    if (std::exchange(outgoing_->working, true)) return;
  }
  Work();
}

void NatsLine::Work() {
  workers_.Run([outgoing = outgoing_] { outgoing->Work(); },
               [line = weak_from_this()] {
                 if (const auto self = line.lock()) self->OnWorkDone();
               });
}

void NatsLine::OnWorkDone() {
  std::string failure;
  {
    const MutexLock lock(outgoing_->mutex);
    failure = outgoing_->failure;
  }
  if (failure.empty() || ended_) return;
  LogWarn("nats.send_failed", {{"reason", failure}});
  End();
}

void NatsLine::Close() {
  if (ended_) return;
  const auto self = shared_from_this();
  TellUsers();
  {
    const MutexLock lock(outgoing_->mutex);
    outgoing_->idle.WaitFor(outgoing_->mutex, kLastWait,
                            [&] REQUIRES(outgoing_->mutex) { return !outgoing_->working; });
  }
  End();
}

// A worker gives up the connection, because the library waits for its threads there.
void NatsLine::End() {
  if (std::exchange(ended_, true)) return;
  const auto self = shared_from_this();
  bell_->Silence();
  bool is_working;
  {
    const MutexLock lock(outgoing_->mutex);
    outgoing_->releasing = true;
    is_working = std::exchange(outgoing_->working, true);
  }
  if (has_begun_ && !is_working) Work();
  TellUsers();
}

void NatsLine::TellUsers() {
  while (!users_.empty()) {
    User& user = users_.front();
    user.unlink();
    user.OnLineEnded();
  }
}

}  // namespace holdfast::rendezvous
