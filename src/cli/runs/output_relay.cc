#include "cli/runs/output_relay.h"

#include <fcntl.h>
#include <unistd.h>

#include <utility>
#include <variant>

namespace holdfast::cli {
namespace {

constexpr int kPipeBytes = 1 << 20;

}  // namespace

// A large pipe saves switches between this program and the reader. Only pipes accept the call, and the kernel may
// refuse it, which does no harm.
OutputRelay::Sink::Sink(loop::EventLoop& loop, int fd, loop::Callback on_writable)
    : output(fd), watch(loop, output.fd(), [] {}, std::move(on_writable)) {
  (void)::fcntl(output.fd(), F_SETPIPE_SZ, kPipeBytes);
}

OutputRelay::OutputRelay(loop::EventLoop& loop, client::Process& process, TerminalQuestions& questions, Wakeup& changed)
    : process_(process),
      questions_(questions),
      changed_(changed),
      sinks_{Sink(loop, STDOUT_FILENO, [this] { OnWritable(sinks_[0]); }),
             Sink(loop, STDERR_FILENO, [this] { OnWritable(sinks_[1]); })} {}

OutputRelay::~OutputRelay() { process_.Listen(nullptr); }

void OutputRelay::Start() {
  scope_.Start(GoOnAfterQuestions());
  Resume();
}

void OutputRelay::Stop() {
  last_ = true;
  process_.Listen(nullptr);
}

void OutputRelay::OnOutput(uint64_t, wire::Stream stream, std::string_view bytes) {
  if (write_error_ != 0) return;
  Sink& sink = sinks_[stream == wire::Stream::kStderr ? 1 : 0];
  if (questions_.open() && !resuming_) process_.Listen(nullptr);  // the rest stays in the queue, which is bounded
  if (questions_.open() || !sink.pending.empty()) {
    sink.pending += bytes;
    return;
  }
  const ssize_t written = sink.output.Write(bytes);
  if (written < 0) return FailWith(static_cast<int>(-written));
  if (static_cast<size_t>(written) == bytes.size()) return;
  sink.pending = bytes.substr(static_cast<size_t>(written));
  if (!resuming_) process_.Listen(nullptr);
  sink.watch.WatchWritable();
}

void OutputRelay::OnEvent(const client::ProcessEvent& event) {
  if (const auto* exited = std::get_if<client::Exited>(&event)) exit_ = *exited;
  if (const auto* failed = std::get_if<client::Failed>(&event)) failure_ = failed->error;
  if (const auto* lost = std::get_if<client::Lost>(&event)) lost_events_ += lost->to_seq - lost->from_seq + 1;
  if (client::IsLast(event)) last_ = true;
  changed_.NotifyLater();
}

void OutputRelay::OnWritable(Sink& sink) {
  if (questions_.open()) return;
  const ssize_t written = sink.output.Write(sink.pending);
  if (written < 0) {
    FailWith(static_cast<int>(-written));
    return Resume();  // further output is dropped, but the connection is read on, because it also carries answers
  }
  sink.pending.erase(0, static_cast<size_t>(written));
  if (!sink.pending.empty()) return sink.watch.WatchWritable();
  if (!blocked()) Resume();
  changed_.NotifyLater();
}

loop::Task<> OutputRelay::GoOnAfterQuestions() {
  for (;;) {
    co_await questions_.closed().Next();
    if (questions_.open()) continue;  // the next question was waiting
    for (Sink& sink : sinks_) {
      if (!sink.pending.empty()) OnWritable(sink);
    }
    if (!blocked()) Resume();
    changed_.NotifyLater();
  }
}

// The events in the queue of the process come during this call. If one of them fills the reader again, the others are
// kept here: the queue is bounded, so this is bounded too.
void OutputRelay::Resume() {
  if (last_) return;
  resuming_ = true;
  process_.Listen(this);
  resuming_ = false;
  if (blocked()) process_.Listen(nullptr);
}

void OutputRelay::FailWith(int error) {
  write_error_ = error;
  for (Sink& sink : sinks_) sink.pending.clear();
  changed_.NotifyLater();
}

}  // namespace holdfast::cli
