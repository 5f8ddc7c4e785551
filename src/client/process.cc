#include "client/process.h"

#include <algorithm>
#include <span>
#include <utility>

#include "base/base64.h"
#include "base/random_id.h"
#include "client/session.h"
#include "loop/scope.h"

namespace holdfast::client {
namespace {

using std::chrono::milliseconds;

constexpr size_t kMaxUnansweredBytes = 4 << 20;  // of writes; further ones wait
constexpr size_t kWriteBytes = 256 << 10;        // of one write, when a long input is fed

// A write in the ledger, until its task ends.
class LedgerEntry {
 public:
  LedgerEntry(WriteLedger& ledger, size_t bytes, loop::Event& changed)
      : ledger_(ledger), changed_(changed), write_(ledger.Add(bytes)) {}
  ~LedgerEntry() {
    ledger_.Remove(write_);
    changed_.Notify();
  }
  LedgerEntry(const LedgerEntry&) = delete;
  LedgerEntry& operator=(const LedgerEntry&) = delete;

  WriteLedger::Write write() const { return write_; }

 private:
  WriteLedger& ledger_;
  loop::Event& changed_;
  const WriteLedger::Write write_;
};

Result<> Accepted(wire::WriteStatus status, const std::string& process_id) {
  switch (status) {
    case wire::WriteStatus::kAccepted:
      return {};
    case wire::WriteStatus::kUnknownProcess:
      return Fail(ErrorKind::kNotFound, "the server does not know the process " + process_id);
    case wire::WriteStatus::kStdinClosed:
      return Fail(ErrorKind::kInvalidRequest, "the standard input of process " + process_id + " is closed");
    case wire::WriteStatus::kStarting:
      return Fail(ErrorKind::kInvalidRequest, "the process " + process_id + " is still starting");
  }
  return {};
}

// Returns whether a write has failed because the process takes no input any more: it has closed its end, or is gone.
// Its output is complete all the same. An observer gets the same kind of error, because it may not write at all.
bool TakesNoInput(const Session& session, const Error& error) {
  if (session.role() == wire::SessionRole::kObserver) return false;
  return error.kind == ErrorKind::kInvalidRequest || error.kind == ErrorKind::kNotFound;
}

std::unexpected<Error> TimeIsOver(const std::string& id) {
  return Fail(ErrorKind::kTimeout, "the process " + id + " has not ended in time");
}

std::unexpected<Error> ClosedWithoutExit(const std::string& id) {
  return Fail(ErrorKind::kInternal, "the process " + id + " was closed without an exit");
}

}  // namespace

Process::Process(std::shared_ptr<Session> session, std::string id, std::shared_ptr<EventStream> events, Stdin input)
    : session_(std::move(session)),
      id_(std::move(id)),
      events_(std::move(events)),
      input_(input),
      write_id_prefix_(RandomUuid().substr(0, 8) + "-") {}

Process::~Process() {
  events_->Listen(nullptr);
  session_->streams().Forget(id_, *events_);
}

loop::Task<std::optional<ProcessEvent>> Process::NextBefore(loop::Deadline& deadline) {
  const auto self = shared_from_this();
  while (true) {
    if (auto event = events_->Take()) co_return std::move(event);
    if (co_await events_->changed().NextBefore(deadline) == loop::Event::Woken::kByTime) co_return std::nullopt;
  }
}

loop::Task<ProcessEvent> Process::NextEvent() {
  loop::Deadline never(session_->loop(), std::nullopt);
  auto event = co_await NextBefore(never);
  co_return *std::move(event);
}

loop::Task<std::optional<ProcessEvent>> Process::NextEventWithin(milliseconds limit) {
  loop::Deadline deadline(session_->loop(), limit);
  co_return co_await NextBefore(deadline);
}

loop::Task<Result<wire::ProcessReadResult>> Process::Read(wire::ProcessReadParams params) {
  params.process_id = id_;
  CallOptions options;
  if (params.wait_ms) options.timeout = session_->TimeoutOf({}) + milliseconds(*params.wait_ms);
  return session_->Call<wire::ProcessRead>(std::move(params), options);
}

loop::Task<Result<>> Process::Write(std::string bytes) {
  return WriteWithin(std::move(bytes), session_->TimeoutOf({}));
}

loop::Task<Result<>> Process::WriteWithin(std::string bytes, std::optional<milliseconds> limit) {
  const auto self = shared_from_this();
  while (writes_.unanswered_bytes() > kMaxUnansweredBytes) co_await writes_changed_.Next();
  const LedgerEntry entry(writes_, bytes.size(), writes_changed_);
  co_return co_await SendWrite(Base64Encode(std::as_bytes(std::span(bytes))), entry.write(), limit);
}

loop::Task<Result<>> Process::SendWrite(std::string chunk_base64, WriteLedger::Write write,
                                        std::optional<milliseconds> limit) {
  loop::Deadline deadline(session_->loop(), limit);
  wire::ProcessWriteParams params;
  params.process_id = id_;
  params.chunk = chunk_base64;
  const bool repeatable = session_->traits().remembers_writes();
  if (repeatable) params.write_id = write_id_prefix_ + std::to_string(write->id);
  for (uint64_t lost = 0;;) {
    auto connection = co_await session_->ConnectedToDrive(lost, deadline);
    if (!connection) co_return std::unexpected(std::move(connection).error());
    const uint64_t number = (*connection)->number();
    if (!writes_.MaySend(write, number)) {
      const auto woken = co_await writes_changed_.NextBefore(deadline);
      if (woken == loop::Event::Woken::kByTime) co_return Fail(ErrorKind::kTimeout, "the write was not sent in time");
      continue;
    }
    writes_.MarkSent(write, number);
    WakeWritesLater();
    auto answer = co_await (*connection)->Call<wire::ProcessWrite>(params, deadline.left());
    if (answer) co_return Accepted(answer->status, id_);
    if (answer.error().kind != ErrorKind::kDisconnected || !repeatable) {
      co_return std::unexpected(std::move(answer).error());
    }
    lost = number;
  }
}

// The next write may be sent when this one is on its way, which it is by the next turn of the loop.
void Process::WakeWritesLater() {
  if (writes_.unanswered() < 2) return;
  session_->loop().Post([weak = weak_from_this()] {
    if (const auto self = weak.lock()) self->writes_changed_.Notify();
  });
}

loop::Task<Result<>> Process::CloseStdin() {
  const auto self = shared_from_this();
  while (writes_.unanswered() > 0) co_await writes_changed_.Next();  // a repeated write must not come too late
  wire::ProcessIdParams params{.process_id = id_};
  const auto answer = co_await session_->Call<wire::ProcessCloseStdin>(std::move(params));
  if (!answer) co_return std::unexpected(answer.error());
  co_return Result<>();
}

loop::Task<Result<>> Process::Resize(TerminalSize size) {
  wire::ProcessResizeParams params{.process_id = id_, .rows = size.rows, .cols = size.cols};
  const auto answer = co_await session_->Call<wire::ProcessResize>(std::move(params));
  if (!answer) co_return std::unexpected(answer.error());
  co_return Result<>();
}

loop::Task<Result<>> Process::Signal(std::string name) {
  wire::ProcessSignalParams params{.process_id = id_, .signal = std::move(name)};
  const auto answer = co_await session_->Call<wire::ProcessSignal>(std::move(params));
  if (!answer) co_return std::unexpected(answer.error());
  co_return Result<>();
}

loop::Task<Result<bool>> Process::Terminate(std::optional<milliseconds> graceful) {
  wire::ProcessTerminateParams params;
  params.process_id = id_;
  if (graceful) params.mode = wire::TerminateMode{static_cast<uint64_t>(graceful->count())};
  const auto answer = co_await session_->Call<wire::ProcessTerminate>(std::move(params));
  if (!answer) co_return std::unexpected(answer.error());
  co_return answer->running;
}

loop::Task<Result<Exited>> Process::Wait(std::optional<milliseconds> limit) {
  const auto self = shared_from_this();
  loop::Deadline deadline(session_->loop(), limit);
  while (!events_->exit()) {
    if (events_->last()) {
      const auto* failed = std::get_if<Failed>(&*events_->last());
      if (failed != nullptr) co_return std::unexpected(failed->error);
      co_return ClosedWithoutExit(id_);
    }
    if (co_await events_->changed().NextBefore(deadline) == loop::Event::Woken::kByTime) co_return TimeIsOver(id_);
  }
  co_return *events_->exit();
}

loop::Task<> Process::Feed(std::string input, std::optional<milliseconds> limit, Result<>& outcome) {
  outcome = co_await WriteAndClose(std::move(input), limit);
  events_->changed().Notify();  // Communicate waits for this event; it may end this task
}

loop::Task<Result<>> Process::WriteAndClose(std::string input, std::optional<milliseconds> limit) {
  const loop::Deadline deadline(session_->loop(), limit);
  for (size_t at = 0; at < input.size(); at += kWriteBytes) {
    auto written = co_await WriteWithin(input.substr(at, kWriteBytes), deadline.left());
    if (!written) co_return std::move(written);
  }
  co_return co_await CloseStdin();
}

loop::Task<Result<Completed>> Process::Communicate(std::string input, std::optional<milliseconds> limit) {
  const auto self = shared_from_this();
  if (input_ == Stdin::kClosed && !input.empty()) {
    co_return Fail(ErrorKind::kInvalidRequest, "the process " + id_ + " was started without standard input");
  }
  loop::Deadline deadline(session_->loop(), limit);
  Result<> fed;
  loop::Scope feeding;
  if (input_ == Stdin::kOpen) feeding.Start(Feed(std::move(input), limit, fed));
  Collector collector;
  while (!collector.ended()) {
    if (auto event = events_->Take()) {
      collector.Add(*std::move(event));
      continue;
    }
    if (!fed && !TakesNoInput(*session_, fed.error())) co_return std::unexpected(fed.error());
    if (co_await events_->changed().NextBefore(deadline) == loop::Event::Woken::kByTime) co_return TimeIsOver(id_);
  }
  auto progress = std::move(collector).Take(exit());
  if (!progress) co_return std::unexpected(std::move(progress).error());
  if (!progress->exit) co_return ClosedWithoutExit(id_);
  co_return Completed{.exit = *progress->exit, .output = std::move(progress->output)};
}

loop::Task<Result<Progress>> Process::RunFor(milliseconds window) {
  const auto self = shared_from_this();
  loop::Deadline deadline(session_->loop(), window);
  Collector collector;
  while (!collector.ended()) {
    auto event = co_await NextBefore(deadline);
    if (!event) break;
    collector.Add(*std::move(event));
  }
  co_return std::move(collector).Take(exit());
}

}  // namespace holdfast::client
