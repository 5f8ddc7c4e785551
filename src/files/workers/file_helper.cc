#include "files/workers/file_helper.h"

#include <cerrno>
#include <utility>

#include <fmt/format.h>

#include "sandbox/plan/program_names.h"
#include "sys/exit_status.h"
#include "sys/io.h"
#include "sys/socket_pair.h"

namespace holdfast::files {

Result<std::unique_ptr<FileHelper>> FileHelper::Start(const sandbox::SandboxedStart::Resources& resources,
                                                      const std::string& session_id,
                                                      const sandbox::SandboxSpec& sandbox, Owner& owner) {
  TRY(sys::SocketPair socket, sys::MakeSocketPair(sys::SocketKind::kStream));
  sandbox::SandboxedStart::Streams streams;
  TRY(streams.out, sys::Duplicate(socket.theirs.get()));
  TRY(streams.err, sys::OpenDevNull());
  streams.in = std::move(socket.theirs);
  std::unique_ptr<FileHelper> helper(new FileHelper(std::move(socket.ours), owner));
  TRY(helper->watch_,
      sandbox::SandboxedStart::Begin(resources, {.session_id = session_id, .command = {}, .sandbox = sandbox},
                                     std::move(streams), static_cast<process::CommandObserver&>(*helper)));
  return helper;
}

void FileHelper::OnStartFailed(process::StartStep, int errno_value) {
  TellReady(FailErrno("execute", sandbox::kProgramName, errno_value));
}

// A file helper that has ended right after its start does not count as ready. It is killed, and its end then counts as
// a failed start; otherwise the waiting request would have one file helper started after the other.
void FileHelper::OnReport(const Result<process::Enforcement>& started) {
  if (started && !link_->IsQuiet()) return Kill();
  TellReady(started ? Result<>() : std::unexpected(started.error()));
}

void FileHelper::OnExited(int wait_status) {
  TellReady(Fail(ErrorKind::kSystem,
                 fmt::format("the sandbox's file helper ended with status {}", sys::ExitStatusOf(wait_status))));
}

void FileHelper::OnGone() {
  TellReady(Fail(ErrorKind::kSystem, "the sandbox's file helper was killed while it started"));
  owner_.OnHelperGone(*this);
}

void FileHelper::TellReady(const Result<>& ready) {
  if (!std::exchange(told_, true)) owner_.OnHelperReady(*this, ready);
}

}  // namespace holdfast::files
