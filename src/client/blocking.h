// The client for programs without an event loop. A BlockingClient runs a loop on a thread of its own, and each function
// blocks until the answer is there or its time is over. Any thread may call it, also several at a time.
//
//   auto client = client::BlockingClient::Connect({.url = url_that_the_server_prints});
//   auto done = client->Run({.argv = {"/bin/echo", "hello"}}, /*input=*/"");
//
// Await runs any task of the library, so everything that coroutines can do, blocking code can do as well:
//
//   auto text = client->Await<std::string>([](client::ExecServerClient& c) { return c.files().Read("/etc/hostname");
//   });
#pragma once

#include <chrono>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "client/exec_server_client.h"

namespace holdfast::client {

class BlockingClient {
 public:
  // Fails with kTimeout when `limit` is over; without it, the time limits of the options hold for each step.
  // `approver`, if there is one, takes the place of options.approver.
  static Result<BlockingClient> Connect(ConnectOptions options, std::optional<std::chrono::milliseconds> limit = {},
                                        BlockingApprover approver = {});

  BlockingClient(BlockingClient&&) noexcept;
  ~BlockingClient();  // closes the connection, and waits for the thread

  // Runs a command to its end and returns its output. When the time is over, the process is killed and the call fails
  // with kTimeout.
  Result<Completed> Run(StartOptions options, std::string input, std::optional<std::chrono::milliseconds> limit = {});

  // These handles are used inside Await only. They may be destroyed by any thread, even after the client.
  Result<std::shared_ptr<Process>> Start(StartOptions options);
  Result<std::shared_ptr<Process>> Attach(std::string process_id, uint64_t after_seq = 0, Backlog backlog = {});

  template <typename Method>
  Result<typename Method::Result> Call(typename Method::Params params, CallOptions options = {}) {
    return Await<typename Method::Result>(
        [&params, options](ExecServerClient& client) { return client.Call<Method>(std::move(params), options); });
  }

  // Calls `begin` on the thread of the loop, and blocks until the task that it returns has ended. The task is cancelled
  // when `limit` is over, and the call fails with kTimeout. The value of the task passes to the thread that calls, so
  // it is plain data: objects that belong to the loop, such as a Process or an HttpStream, stay inside the task.
  template <typename T>
  Result<T> Await(std::function<loop::Task<Result<T>>(ExecServerClient&)> begin,
                  std::optional<std::chrono::milliseconds> limit = {}) {
    auto outcome = std::make_shared<std::optional<Result<T>>>();
    auto run = [begin = std::move(begin), outcome](ExecServerClient& client) { return Keep(begin(client), outcome); };
    if (!RunTask(std::move(run), limit)) return TimedOut();
    return *std::move(*outcome);
  }

 private:
  struct Thread;
  class Grave;

  explicit BlockingClient(std::shared_ptr<Thread> thread);
  Result<std::shared_ptr<Process>> Adopt(Result<std::shared_ptr<Process>> process);

  template <typename T>
  static loop::Task<> Keep(loop::Task<Result<T>> task, std::shared_ptr<std::optional<Result<T>>> outcome) {
    outcome->emplace(co_await std::move(task));
  }
  static std::unexpected<Error> TimedOut();
  // Returns false if the task was cancelled because the time was over.
  bool RunTask(std::function<loop::Task<>(ExecServerClient&)> begin, std::optional<std::chrono::milliseconds> limit);

  std::shared_ptr<Thread> thread_;
};

}  // namespace holdfast::client
