// A fake of the helper, without any sandbox, as which the test program runs when it is executed by a server. As a jail
// it starts commands, and otherwise it becomes the command. A file `behaviour` in the policy's directory, in which the
// plan protects a missing .git, says what a jail does: `refuse`, `die` at the first entry, make a pid 1 that fails
// before the start (`unbegun`), or be `mute`. Each jail, each entry and each helper is a line of the file `log`.
#pragma once

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/paths.h"
#include "base/record_reader.h"
#include "process/command/start_report.h"
#include "process/keeper/protocol.h"
#include "sandbox/confine/confinement.h"
#include "sandbox/flags.h"
#include "sandbox/native/jail_entry.h"
#include "sandbox/plan/jail_plan.h"
#include "sandbox/plan/program_names.h"
#include "sys/descriptor_passing.h"
#include "sys/io.h"
#include "sys/pidfd.h"
#include "sys/read_to_end.h"

namespace holdfast::sandbox::fake {

using process::KeeperEvent;
using process::KeeperEventKind;
using process::KeeperInstruction;

inline void Log(const std::string& directory, std::string_view line) {
  const OwnedFd file(::open((directory + "/log").c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644));
  const std::string text = fmt::format("{}\n", line);
  if (::write(file.get(), text.data(), text.size()) < 0) ::_exit(99);
}

inline void Send(int control, KeeperEventKind kind, int value = 0, int fd = -1) {
  const KeeperEvent event{.kind = kind, .value = value, .step = process::StartStep::kNone};
  const std::string_view bytes(reinterpret_cast<const char*>(&event), sizeof event);
  const std::vector<int> fds(fd < 0 ? 0 : 1, fd);
  (void)sys::SendWithDescriptors(control, bytes, fds);  // the server may be gone
}

[[noreturn]] inline void Execute(const RunCommand& entry, const std::vector<OwnedFd>& fds) {
  for (int stream = 0; stream < 3; ++stream) ::dup2(fds[1 + static_cast<size_t>(stream)].get(), stream);
  if (::chdir(entry.command.cwd.c_str()) < 0) ::_exit(98);
  ::clearenv();
  for (const std::string& variable : entry.environment) ::putenv(::strdup(variable.c_str()));
  (void)sandbox::Execute(entry.command);
  ::_exit(97);
}

// Passes instructions on until the command has ended. Returns its status.
inline int KeepUntilEnd(pid_t command, int control) {
  const auto pidfd = sys::OpenPidfd(command);
  for (;;) {
    pollfd waiting[] = {{pidfd->get(), POLLIN, 0}, {control, POLLIN, 0}};
    ::poll(waiting, 2, -1);
    if (waiting[0].revents != 0) break;
    KeeperInstruction instruction;
    const bool whole = ::recv(control, &instruction, sizeof instruction, 0) == sizeof instruction;
    const bool signal = whole && instruction.kind == process::KeeperInstructionKind::kSignal;
    ::kill(-command, signal ? instruction.value : SIGKILL);
    if (!whole) break;
  }
  int status = 0;
  ::waitpid(command, &status, 0);
  return status;
}

// Runs as pid 1 of the command.
[[noreturn]] inline void BeFirstProcess(const std::string& behaviour, const RunCommand& entry,
                                        std::vector<OwnedFd> fds) {
  const int control = fds[4].get();
  (void)std::signal(SIGCHLD, SIG_DFL);
  ::fcntl(control, F_SETFL, 0);
  if (behaviour == "unbegun") {
    Send(control, KeeperEventKind::kNotStarted, 1);
    ::_exit(1);
  }
  Send(control, KeeperEventKind::kBegun);
  auto executed = sys::MakePipe(sys::OurEnd::kWrite);
  const pid_t command = ::fork();
  if (command == 0) {
    ::setsid();
    Execute(entry, fds);
  }
  executed->write_end.Reset();
  char nothing;
  (void)sys::Read(executed->read_end.get(), &nothing, 1);  // ends when the command is executed
  Send(control, KeeperEventKind::kStarted);
  for (size_t i = 0; i < 4; ++i) fds[i] = OwnedFd();
  Send(control, KeeperEventKind::kExited, KeepUntilEnd(command, control));
  ::_exit(0);
}

template <typename Record>
Record ReadRecord(int fd) {
  const auto text = sys::ReadToEnd(OwnedFd(fd).get(), kMaxRecordBytes, "record");
  auto record = DecodeRecord<Record>(*text);
  if (!record) ::_exit(96);
  return *std::move(record);
}

inline std::string DirectoryOf(const JailPlan& plan) {
  for (const Placeholder& placeholder : plan.mounts.placeholders) {
    if (holdfast::NameOf(placeholder.path) == ".git") return std::string(ParentOf(placeholder.path));
  }
  ::_exit(92);
}

[[noreturn]] inline void BeJail(int plan, int socket, int report) {
  const std::string directory = DirectoryOf(ReadRecord<JailPlan>(plan));
  std::string behaviour;
  std::ifstream(directory + "/behaviour") >> behaviour;
  Log(directory, fmt::format("jail {}", ::getpid()));
  if (behaviour == "refuse") {
    process::ReportFailed(report, 1, "there are no namespaces");
    ::_exit(1);
  }
  (void)std::signal(SIGCHLD, SIG_IGN);
  for (;;) {
    char message;
    pollfd waiting = {socket, POLLIN, 0};
    ::poll(&waiting, 1, -1);
    sys::Arrival arrival = sys::TryReceive(socket, {&message, 1});
    if (arrival.size != 1) ::_exit(0);
    std::vector<OwnedFd> fds;
    for (const sys::ForeignFd& fd : arrival.fds) fds.emplace_back(::fcntl(fd.get(), F_DUPFD_CLOEXEC, 12));
    arrival.fds.clear();
    const auto entry = std::get<RunCommand>(ReadRecord<JailEntry>(::dup(fds.at(0).get())).task);
    Log(directory, fmt::format("entry{}{} {}", entry.has_terminal ? " terminal" : "",
                               entry.is_supervised ? " supervisor" : "", fds.size()));
    if (behaviour == "die") ::raise(SIGKILL);
    const int control = fds[4].get();
    if (behaviour == "mute") {
      for (;;) ::pause();
    }
    const pid_t first = ::fork();
    if (first == 0) {
      ::close(socket);
      BeFirstProcess(behaviour, entry, std::move(fds));
    }
    const auto pidfd = sys::OpenPidfd(first);
    if (pidfd) Send(control, KeeperEventKind::kCloned, first, pidfd->get());
  }
}

[[noreturn]] inline void BeHelper(const SandboxedCommand& asked) {
  Log(asked.sandbox.policy_cwd, "helper");
  process::ReportStarted(*asked.report_fd);
  if (::chdir(asked.working_directory().c_str()) < 0) ::_exit(95);
  (void)sandbox::Execute(asked.command);
  ::_exit(94);
}

// Runs before main if the program was executed as a helper.
[[gnu::constructor]] inline void BecomeFake(int argc, char** argv) {
  const std::vector<std::string_view> arguments(argv + std::min(argc, 1), argv + argc);
  if (arguments.size() >= 5 && arguments[0] == kJail) {
    BeJail(*ParseDescriptor(arguments[1]), *ParseDescriptor(arguments[2]), *ParseDescriptor(arguments[3]));
  }
  if (!FindReportFd(arguments)) return;
  const auto asked = ParseFlags(arguments);
  if (!asked) ::_exit(93);
  BeHelper(*asked);
}

}  // namespace holdfast::sandbox::fake
