#include "escalate/wrapper_server/wrapper_session.h"

#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <optional>
#include <utility>
#include <vector>

#include "escalate/caller/outside_directory.h"
#include "escalate/caller/taken_fds.h"
#include "escalate/outside/outside_environment.h"
#include "sys/descriptor_passing.h"
#include "sys/exit_codes.h"
#include "sys/peer.h"
#include "sys/pidfd.h"

namespace holdfast::escalate {
namespace {

using exec_policy::Action;
using exec_policy::WorkingDirectory;

constexpr size_t kMaxHeldBytes = 64 << 20;
constexpr size_t kMaxHeldFds = 1024;              // four of the largest hand-overs at the same time
constexpr size_t kMaxLaterFrameBytes = 64 << 10;  // of all frames but the request
constexpr size_t kMaxReasonBytes = 4096;          // far less than a socket takes at once

// Looks at a program from the view of the process that has made the connection.
std::optional<ProgramView> LookFromPeer(const ProgramLookup& look, const Result<sys::Child>& peer,
                                        const std::string& file) {
  if (!peer) return std::nullopt;
  auto view = look(peer->pid, file);
  if (sys::HasEnded(peer->pidfd.get())) return std::nullopt;  // the view may be that of another process
  return view;
}

OrErrno<std::vector<PassedFd>> StreamsOf(const Result<sys::Child>& peer) {
  return peer ? TakeStandardStreams(peer->pidfd.get()) : std::unexpected(ESRCH);
}

Result<std::vector<PassedFd>> MatchFds(const std::vector<int>& numbers, std::vector<sys::ForeignFd> fds) {
  if (numbers.size() != fds.size()) return Fail(ErrorKind::kInvalidParams, "fds: not as many as descriptors");
  std::vector<PassedFd> passed;
  for (size_t i = 0; i < fds.size(); ++i) {
    if (std::ranges::count(numbers, numbers[i]) > 1)
      return Fail(ErrorKind::kInvalidParams, "fds: a number is repeated");
    passed.push_back({numbers[i], std::move(fds[i])});
  }
  return passed;
}

}  // namespace

WrapperSession::WrapperSession(SessionSurroundings& surroundings, sys::ForeignFd socket,
                               std::move_only_function<void()> on_over)
    : surroundings_(surroundings),
      on_over_(std::move(on_over)),
      socket_(std::move(socket)),
      watch_(surroundings.loop, socket_.get(), [this] { OnReadable(); }) {
  sys::RefuseSenderDetails(socket_.get());
  watch_.WatchReadable();
}

WrapperSession::~WrapperSession() {
  surroundings_.held_bytes -= counted_bytes_;
  ForgetFds();
}

void WrapperSession::ForgetFds() { surroundings_.held_fds -= std::exchange(counted_fds_, 0); }

void WrapperSession::OnReadable() {
  std::vector<char> buffer(reader_.wanted());
  sys::Arrival arrival = sys::TryReceive(socket_.get(), buffer);
  if (arrival.size == -EAGAIN) return watch_.WatchReadable();
  if (arrival.size <= 0) return (void)End();
  const auto size = static_cast<size_t>(arrival.size);
  if (auto counted = Count(size, arrival.fds.size()); !counted) return (void)Refuse(counted.error());
  auto frame = reader_.Add({buffer.data(), size}, std::move(arrival.fds));
  if (!frame) return (void)Refuse(frame.error());
  if (*frame && OnFrame(**std::move(frame)) == Life::kOver) return;
  watch_.WatchReadable();
}

// Descriptors are refused with the first byte of their frame, because a wrapper may never send the rest of it.
Result<> WrapperSession::Count(size_t bytes, size_t fds) {
  if (fds > 0 && state_ != State::kHandOver) {
    return Fail(ErrorKind::kInvalidRequest, "descriptors came with a message that has none");
  }
  counted_fds_ += fds;
  surroundings_.held_fds += fds;
  if (surroundings_.held_fds > kMaxHeldFds) return Fail(ErrorKind::kLimit, "too many descriptors are being passed");
  if (state_ != State::kRequest) return {};
  counted_bytes_ += bytes;
  surroundings_.held_bytes += bytes;
  if (surroundings_.held_bytes > kMaxHeldBytes) return Fail(ErrorKind::kLimit, "too many requests are under way");
  return {};
}

WrapperSession::Life WrapperSession::OnFrame(Frame frame) {
  switch (state_) {
    case State::kRequest:
      return OnRequest(frame.text);
    case State::kHandOver:
      return OnHandOver(std::move(frame));
    case State::kDeciding:
    case State::kRunning:
      return End();
  }
  std::unreachable();
}

WrapperSession::Life WrapperSession::OnRequest(std::string_view text) {
  auto request = DecodeRequest(text);
  if (!request) return Refuse(request.error());
  state_ = State::kDeciding;
  reader_ = FrameReader(kMaxLaterFrameBytes);
  order_.path = std::move(request->file);
  order_.argv = std::move(request->argv);
  caller_environment_ = std::move(request->environment);
  scope_.Start(Decide());  // waits for a worker, so the session still exists
  return Life::kGoesOn;
}

loop::Task<> WrapperSession::Decide() {
  auto look = [look = surroundings_.options.look, peer = sys::UnixPeer(socket_.get()), file = order_.path] {
    return LookFromPeer(look, peer, file);
  };
  auto view = co_await surroundings_.workers.Do(std::move(look));
  if (!view) {
    Answer(Action::kRun, {});  // the execve fails, and the wrapper has the reason
    co_return;
  }
  order_.path = std::move(view->path);
  const exec_policy::ExecAttempt attempt{
      .file = order_.path,
      .argv = order_.argv,
      .cwd = view->cwd,
      .program_file = view->file,
      .other_paths = view->other_paths,
      .interpreter = view->interpreter,
      .interpreter_paths = view->interpreter_paths,
      .directory = view->directory ? WorkingDirectory::kSame : WorkingDirectory::kElsewhere};
  auto judgement = exec_policy::Judge(*surroundings_.options.policy, attempt, surroundings_.options.names);
  const auto variables = CarriedVariables(surroundings_.options.environment, caller_environment_, judgement.variables);
  if (view->directory) {
    order_.directory = view->directory->fd;
    order_.environment = OutsideEnvironment(surroundings_.options.environment, variables, view->directory->path);
  }
  if (!judgement.asks) {
    Answer(judgement.action, judgement.reason);
    co_return;
  }
  Question question{.file = order_.path,
                    .argv = order_.argv,
                    .cwd = view->directory ? view->directory->path : view->cwd,
                    .variables = variables,
                    .reason = std::move(judgement.reason),
                    .rule = std::move(judgement.rule),
                    .when_approved = judgement.action};
  co_await Ask(std::move(question));
}

// The caller could exchange its streams while the person thinks, so they are taken before the question.
loop::Task<> WrapperSession::Ask(Question question) {
  auto take = [peer = sys::UnixPeer(socket_.get())] { return StreamsOf(peer); };
  auto streams = co_await surroundings_.workers.Do(std::move(take));
  const auto answer = co_await surroundings_.approver.Ask(std::move(question));
  if (answer.action != Action::kEscalate) {
    Answer(answer.action, answer.reason);
  } else if (order_.directory == nullptr) {
    Answer(Action::kDeny, kDirectoryElsewhere);
  } else if (!streams) {
    Answer(Action::kDeny, "take the standard streams: " + ErrnoText(streams.error()));
  } else {
    streams_ = *std::move(streams);
    Answer(Action::kEscalate, {});
  }
}

WrapperSession::Life WrapperSession::Answer(Action action, const std::string& reason) {
  ExecAnswer answer{.action = action};
  if (action == Action::kDeny && !reason.empty()) answer.reason = reason.substr(0, kMaxReasonBytes);
  if (action != Action::kEscalate) {
    const Life life = Send(Encode(answer));
    return life == Life::kOver ? life : End();
  }
  state_ = State::kHandOver;
  return Send(Encode(answer));
}

WrapperSession::Life WrapperSession::OnHandOver(Frame frame) {
  const auto hand_over = DecodeHandOver(frame.text);
  if (!hand_over) return End();
  auto fds = MatchFds(hand_over->fds, std::move(frame.fds));
  if (!fds) return End();
  order_.fds = streams_ ? WithTakenStreams(*std::move(fds), *std::move(streams_)) : *std::move(fds);
  state_ = State::kRunning;
  auto command = surroundings_.options.start(std::move(order_), *this);
  ForgetFds();
  if (!command) return SendExitCode(sys::kCannotExecute);
  command_ = *std::move(command);
  return Life::kGoesOn;
}

WrapperSession::Life WrapperSession::SendExitCode(int exit_code) {
  const Life life = Send(Encode(ExitCode{exit_code}));
  return life == Life::kOver ? life : End();
}

void WrapperSession::OnEnded(const Ending& ending) {
  SendExitCode(ending.signal != 0 ? 128 + ending.signal : ending.exit_code);
}

// A frame is much smaller than the buffer of a socket. A peer whose buffer is full has not read earlier ones, and ends.
WrapperSession::Life WrapperSession::Send(std::string_view text) {
  const std::string frame = FrameOf(text);
  const ssize_t sent = ::send(socket_.get(), frame.data(), frame.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
  return sent == static_cast<ssize_t>(frame.size()) ? Life::kGoesOn : End();
}

// The wrapper shows the reason of a denial. The protocol has no place for the reason why a command cannot be started.
WrapperSession::Life WrapperSession::Refuse(const Error& error) {
  if (state_ == State::kRequest) return Answer(Action::kDeny, "the request is refused: " + error.message);
  if (state_ == State::kHandOver) return SendExitCode(sys::kCannotExecute);
  return End();
}

WrapperSession::Life WrapperSession::End() {
  auto over = std::move(on_over_);
  over();
  return Life::kOver;
}

}  // namespace holdfast::escalate
