#include "client/blocking.h"

#include <atomic>
#include <map>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "base/check.h"
#include "loop/scope.h"
#include "loop/worker_pool.h"

namespace holdfast::client {
namespace {

constexpr std::chrono::milliseconds kCloseTime{3'000};
constexpr size_t kMaxApprovals = 64;  // further questions wait until one of these is answered

loop::Task<> Run(std::function<loop::Task<>()> begin, std::shared_ptr<std::promise<bool>> ended) {
  co_await begin();
  ended->set_value(true);
}

loop::Task<wire::ExecApproveResult> AskOnWorker(loop::WorkerPool& workers,
                                                std::shared_ptr<const BlockingApprover> approver,
                                                wire::ExecApproveParams question) {
  auto ask = [approver = std::move(approver), question = std::move(question)] { return (*approver)(question); };
  co_return co_await workers.Do(std::move(ask));
}

}  // namespace

// The loop, and the processes whose last handle is gone but which have not been destroyed. Each handle shares it, so it
// outlives the client and its thread if a handle does.
class BlockingClient::Grave {
 public:
  // Any thread may bury a process. The loop's thread destroys it; when that thread has ended, the caller does, one
  // caller at a time.
  void Bury(std::shared_ptr<Process> process) {
    const std::lock_guard lock(mutex_);
    if (ended_) return process.reset();
    buried_.push_back(std::move(process));
    loop.Post([this] { Empty(); });
  }
  void Empty() {
    std::unique_lock lock(mutex_);
    const auto buried = std::exchange(buried_, {});
    lock.unlock();
  }
  // The loop's thread has ended.
  void End() {
    Empty();
    const std::lock_guard lock(mutex_);
    ended_ = true;
    buried_.clear();
  }

  loop::EventLoop loop;

 private:
  std::mutex mutex_;
  bool ended_ = false;
  std::vector<std::shared_ptr<Process>> buried_;
};

struct BlockingClient::Thread {
  Thread() : thread([this] { loop.Run(); }) {}
  ~Thread() {
    loop.Post([this] {
      tasks.clear();
      client.reset();
      loop.Stop();
    });
    thread.join();
    grave->End();
  }

  bool RunTask(std::function<loop::Task<>()> begin, std::optional<std::chrono::milliseconds> limit);
  loop::Task<> Open(ConnectOptions options, Result<>& outcome);
  loop::Task<> Close() { return client->Close(); }

  const std::shared_ptr<Grave> grave = std::make_shared<Grave>();
  loop::EventLoop& loop = grave->loop;
  loop::WorkerPool approvals{loop, {.name = "approver", .usual_workers = kMaxApprovals, .max_workers = kMaxApprovals}};
  // The loop's thread alone uses these two.
  std::optional<ExecServerClient> client;
  std::map<uint64_t, loop::Scope> tasks;
  std::atomic<uint64_t> last_task = 0;
  std::thread thread;
};

// Blocks until the task has ended. When the time is over, the task is destroyed, and the result is false.
bool BlockingClient::Thread::RunTask(std::function<loop::Task<>()> begin,
                                     std::optional<std::chrono::milliseconds> limit) {
  CHECK(std::this_thread::get_id() != thread.get_id());  // the loop cannot wait for itself
  const uint64_t id = ++last_task;
  const auto promise = std::make_shared<std::promise<bool>>();
  std::future<bool> ended = promise->get_future();
  loop.Post([this, id, promise, begin = std::move(begin)]() mutable {
    tasks[id].Start(client::Run(std::move(begin), promise));
  });
  if (!limit || ended.wait_for(*limit) == std::future_status::ready) {
    const bool done = ended.get();
    loop.Post([this, id] { tasks.erase(id); });
    return done;
  }
  loop.Post([this, id, promise] {
    const auto task = tasks.find(id);
    const bool done = task->second.empty();
    tasks.erase(task);
    if (!done) promise->set_value(false);
  });
  return ended.get();
}

loop::Task<> BlockingClient::Thread::Open(ConnectOptions options, Result<>& outcome) {
  auto connected = co_await ExecServerClient::Connect(loop, std::move(options));
  if (connected) {
    client.emplace(*std::move(connected));
  } else {
    outcome = std::unexpected(std::move(connected).error());
  }
}

Result<BlockingClient> BlockingClient::Connect(ConnectOptions options, std::optional<std::chrono::milliseconds> limit,
                                               BlockingApprover approver) {
  auto thread = std::make_shared<Thread>();
  if (approver) {
    const auto shared = std::make_shared<const BlockingApprover>(std::move(approver));
    options.approver = [&workers = thread->approvals, shared](wire::ExecApproveParams question) {
      return AskOnWorker(workers, shared, std::move(question));
    };
  }
  Result<> outcome;
  const bool ended = thread->RunTask([&] { return thread->Open(std::move(options), outcome); }, limit);
  if (!ended) return TimedOut();
  if (!outcome) return std::unexpected(std::move(outcome).error());
  return BlockingClient(std::move(thread));
}

BlockingClient::BlockingClient(std::shared_ptr<Thread> thread) : thread_(std::move(thread)) {}
BlockingClient::BlockingClient(BlockingClient&&) noexcept = default;

// The client says goodbye, and waits for the answer only a moment.
BlockingClient::~BlockingClient() {
  if (thread_) (void)thread_->RunTask([this] { return thread_->Close(); }, kCloseTime);
}

bool BlockingClient::RunTask(std::function<loop::Task<>(ExecServerClient&)> begin,
                             std::optional<std::chrono::milliseconds> limit) {
  return thread_->RunTask([this, &begin] { return begin(*thread_->client); }, limit);
}

Result<std::shared_ptr<Process>> BlockingClient::Start(StartOptions options) {
  return Adopt(
      Await<std::shared_ptr<Process>>([&](ExecServerClient& client) { return client.Start(std::move(options)); }));
}

Result<std::shared_ptr<Process>> BlockingClient::Attach(std::string process_id, uint64_t after_seq, Backlog backlog) {
  return Adopt(Await<std::shared_ptr<Process>>(
      [&](ExecServerClient& client) { return client.Attach(std::move(process_id), after_seq, backlog); }));
}

// Returns a handle that buries the process. The thread may be ending at that moment.
Result<std::shared_ptr<Process>> BlockingClient::Adopt(Result<std::shared_ptr<Process>> process) {
  if (!process) return process;
  Process* const raw = process->get();
  return std::shared_ptr<Process>(
      raw, [grave = thread_->grave, owned = *std::move(process)](Process*) mutable { grave->Bury(std::move(owned)); });
}

std::unexpected<Error> BlockingClient::TimedOut() {
  return Fail(ErrorKind::kTimeout, "the call has not ended in time");
}

namespace {

loop::Task<Result<Completed>> RunCommand(ExecServerClient& client, StartOptions options, std::string input,
                                         std::optional<std::chrono::milliseconds> limit) {
  if (!input.empty()) options.input = Stdin::kOpen;
  auto process = co_await client.Start(std::move(options));
  if (!process) co_return std::unexpected(std::move(process).error());
  auto completed = co_await (*process)->Communicate(std::move(input), limit);
  if (!completed && completed.error().kind == ErrorKind::kTimeout) (void)co_await (*process)->Terminate();
  co_return std::move(completed);
}

}  // namespace

Result<Completed> BlockingClient::Run(StartOptions options, std::string input,
                                      std::optional<std::chrono::milliseconds> limit) {
  return Await<Completed>(
      [&](ExecServerClient& client) { return RunCommand(client, std::move(options), std::move(input), limit); });
}

}  // namespace holdfast::client
