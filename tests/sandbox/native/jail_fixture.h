// The fixture starts a jail, which is the helper of this build in sealed memory, and is its server: it asks for
// commands, and reads what the jail and pid 1 of each command tell. The commands may write the workspace.
#pragma once

#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/record.h"
#include "process/keeper/protocol.h"
#include "sandbox/native/jail_entry.h"
#include "sandbox/native/trial.h"
#include "sandbox/plan/planner.h"
#include "sandbox/plan/program_names.h"
#include "sandbox/policy/builtin_policies.h"
#include "support/eventually.h"
#include "support/scratch_dir.h"
#include "sys/argv.h"
#include "sys/descriptor_passing.h"
#include "sys/executable_image.h"
#include "sys/io.h"
#include "sys/memory_file.h"
#include "sys/pidfd.h"
#include "sys/spawn.h"

namespace holdfast::sandbox {

using process::KeeperEvent;
using process::KeeperEventKind;
using process::KeeperInstruction;
using process::KeeperInstructionKind;

inline std::string ReadToEnd(int fd) {
  std::string text;
  for (;;) {
    pollfd ready = {fd, POLLIN, 0};
    char buffer[4096];
    const bool is_ready = ::poll(&ready, 1, static_cast<int>(support::kPatience.count())) > 0;
    const ssize_t size = is_ready ? sys::Read(fd, buffer, sizeof buffer) : 0;
    if (!is_ready) ADD_FAILURE() << "only got: " << text;
    if (size <= 0) return text;  // a terminal ends with EIO
    text.append(buffer, static_cast<size_t>(size));
  }
}

// Launched is the server's end of one command.
struct Launched {
  OwnedFd control;
  OwnedFd out = {}, err = {};
  OwnedFd first_process = {};  // the pidfd of pid 1, and its pid
  pid_t pid = -1;
  std::string shown = {};        // what has been read of the output
  std::vector<int> events = {};  // the kinds of all events so far
  std::string report = {};       // what pid 1 has said about the start

  // Returns the next event, or nothing at the end of the socket.
  std::optional<KeeperEvent> Next() {
    pollfd ready = {control.get(), POLLIN, 0};
    if (::poll(&ready, 1, static_cast<int>(support::kPatience.count())) <= 0) ADD_FAILURE() << "no event has come";
    struct {
      KeeperEvent event = {};
      char text[process::kMaxReasonBytes];
    } packet;
    const KeeperEvent& event = packet.event;
    auto received = sys::ReceiveWithDescriptor(control.get(), {reinterpret_cast<char*>(&packet), sizeof packet});
    if (!received || received->size < sizeof event) return std::nullopt;
    if (event.kind == KeeperEventKind::kStarted) report = "started";
    if (event.kind == KeeperEventKind::kNotStarted) {
      report = fmt::format("failed {} {}", event.value, std::string_view(packet.text, received->size - sizeof event));
    }
    if (event.kind == KeeperEventKind::kCloned) {
      first_process = std::move(received->fd);
      pid = event.value;
    }
    events.push_back(static_cast<int>(event.kind));
    return event;
  }

  // Returns the status of the command as wait4 returns it, or -1 if it was not started.
  int AwaitExit() {
    while (const auto event = Next()) {
      if (event->kind == KeeperEventKind::kExited) return event->value;
    }
    return -1;
  }
  bool AwaitBegun() {
    while (const auto event = Next()) {
      if (event->kind == KeeperEventKind::kBegun) return true;
    }
    return false;
  }

  std::string AwaitOutput(std::string_view text) {
    while (!shown.contains(text)) {
      pollfd ready = {out.get(), POLLIN, 0};
      char buffer[4096];
      const bool is_ready = ::poll(&ready, 1, static_cast<int>(support::kPatience.count())) > 0;
      const ssize_t size = is_ready ? sys::Read(out.get(), buffer, sizeof buffer) : 0;
      if (size <= 0) {
        ADD_FAILURE() << "no " << text << " in: " << shown;
        return shown;
      }
      shown.append(buffer, static_cast<size_t>(size));
    }
    const size_t end = shown.find(text) + text.size();
    std::string before = shown.substr(0, end);
    shown.erase(0, end);
    return before;
  }

  void Instruct(KeeperInstructionKind kind, int value = 0) const {
    const KeeperInstruction instruction = {kind, value};
    EXPECT_EQ(sys::Write(control.get(), &instruction, sizeof instruction), ssize_t{sizeof instruction});
  }
  void Signal(int signal) const { Instruct(KeeperInstructionKind::kSignal, signal); }
  void Kill() const { Instruct(KeeperInstructionKind::kKill); }
};

struct Finished {
  int status;
  std::string out, err, report;
};

class JailFixture : public testing::TestWithParam<uid_t> {
 protected:
  JailFixture() {
    ::prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);  // as the keeper of a jail is
    for (const auto* directory : {&workspace_, &tmpdir_}) {
      EXPECT_EQ(::chown(directory->path().c_str(), GetParam(), GetParam()), 0);
    }
    sandbox_.profile.policy = WorkspaceWrite();
    sandbox_.policy_cwd = Workspace();
    guarded_ = {.private_dirs = {"/missing/holdfast"},  // those of the environment would not be the user's
                .program_directory = "/usr/bin",
                .server_tmpdir = tmpdir_.path()};
  }
  ~JailFixture() override { EndJail(SIGKILL); }

  // Only the machine is a reason to skip a test: a jail that does not work on a good machine is a failure.
  void SetUp() override {
    const std::string why_not = AsUser([] {
      const auto failure = TryNative({});
      return failure ? Text(*failure) : std::string();
    });
    if (!why_not.empty()) GTEST_SKIP() << "the native backend does not work here: " << why_not;
    StartJail();
    ASSERT_EQ(Start("true").AwaitExit(), 0);
  }

  std::string Workspace() const { return std::filesystem::canonical(workspace_.path()); }

  // Runs `body` in a child as the user of the test, and returns the text that it returns.
  template <typename Body>
  std::string AsUser(Body body) const {
    auto pipe = sys::MakePipe(sys::OurEnd::kRead);
    auto in_child = [&] {
      BecomeUser();
      const std::string text = body();
      return sys::Write(pipe->write_end.get(), text.data(), text.size()) < 0 ? 1 : 0;
    };
    const auto child = sys::Spawn(sys::Sharing::kNothing, in_child);
    pipe->write_end.Reset();
    std::string text = ReadToEnd(pipe->read_end.get());
    if (child) ::waitpid(*child, nullptr, 0);
    return text;
  }

  // Returns the record of the plan for the jail.
  std::string Plan(MissingNames missing_names = MissingNames::kCovered) const {
    return AsUser([&] {
      const auto planned =
          PlanJail(sandbox_, {.cwd = Workspace(), .tmpdir = tmpdir_.path(), .missing_names = missing_names}, guarded_);
      return planned ? EncodeRecord(planned->plan) : planned.error().message;
    });
  }

  // Starts the jail, and tells it that its program is the descriptor `program`.
  void StartJail(int program = kProgram) { StartJail(program, Plan()); }
  void StartJail(int program, const std::string& record) {
    const auto plan = sys::MakeMemoryFile("plan", record);
    ASSERT_TRUE(plan);
    auto pair = sys::MakePacketPair();
    ASSERT_TRUE(pair);
    ASSERT_TRUE(sys::SetBlocking(pair->theirs.get(), sys::Blocking::kYes));
    socket_ = std::move(pair->ours);
    std::vector<std::string> words = {"holdfast-linux-sandbox", kJail};
    for (const int fd : {kPlan, kSocket, kReport, program}) words.push_back(std::to_string(fd));
    const std::vector<std::string> variables = {"ASAN_OPTIONS=detect_leaks=0"};
    const sys::Argv argv(words), environment(variables);
    auto in_child = [&] {
      ::dup2(pair->theirs.get(), kSocket);
      ::dup2(Image(), kProgram);
      ::dup2(::open("/dev/null", O_RDWR | O_CLOEXEC), STDIN_FILENO);
      for (const int fd : {kOther, kReport}) ::dup2(STDIN_FILENO, fd);
      ::dup2(plan->get(), kPlan);
      BecomeUser();
      ::fexecve(kProgram, argv.data(), environment.data());
      return 99;
    };
    (void)Image();  // made here, because the child has no right to make it
    const auto child = sys::Spawn(sys::Sharing::kNothing, in_child);
    ASSERT_TRUE(child);
    jail_ = *child;
  }

  // Sends the signal, or closes the socket, and waits until the jail has ended. Returns its status.
  int EndJail(std::optional<int> signal = std::nullopt) {
    if (jail_ <= 0) return -1;
    if (signal) ::kill(jail_, *signal);
    socket_.Reset();
    int status = -1;
    ::waitpid(std::exchange(jail_, -1), &status, 0);
    return status;
  }

  RunCommand EntryFor(std::vector<std::string> argv) const {
    return {.command = {.program = argv[0], .argv = std::move(argv), .cwd = Workspace()},
            .environment = {"PATH=/usr/bin:/bin", "MARK=" + workspace_.path()}};
  }

  Launched Start(std::string script) { return StartProgram({"/bin/bash", "-c", std::move(script)}); }
  Launched StartProgram(std::vector<std::string> argv) { return Request(EntryFor(std::move(argv)), -1); }

  // Asks for a command. Its streams are `terminal`, or, if that is -1, pipes.
  Launched Request(RunCommand entry, int terminal) {
    auto control = sys::MakePacketPair();
    auto out = sys::MakePipe(sys::OurEnd::kRead), err = sys::MakePipe(sys::OurEnd::kRead);
    const auto in = sys::OpenDevNull();
    const bool is_piped = terminal < 0;
    entry.has_terminal = !is_piped;
    const auto file = sys::MakeMemoryFile("entry", EncodeRecord(JailEntry{entry}));
    Send({file->get(), is_piped ? in->get() : terminal, is_piped ? out->write_end.get() : terminal,
          is_piped ? err->write_end.get() : terminal, control->theirs.get()});
    return {.control = std::move(control->ours), .out = std::move(out->read_end), .err = std::move(err->read_end)};
  }

  void Send(const std::vector<int>& fds) const {
    if (sys::SendWithDescriptors(socket_.get(), "e", fds)) return;
    // The socket takes a few requests, and the rest has to wait until the jail has received those.
    pollfd ready = {socket_.get(), POLLOUT, 0};
    if (::poll(&ready, 1, static_cast<int>(support::kPatience.count())) == 1 && (ready.revents & POLLHUP) == 0) {
      Send(fds);
    }
  }

  Finished Finish(Launched launched) {
    const int status = launched.AwaitExit();
    return {.status = status,
            .out = launched.shown + ReadToEnd(launched.out.get()),
            .err = ReadToEnd(launched.err.get()),
            .report = launched.report};
  }
  Finished Run(std::string script) { return Finish(Start(std::move(script))); }

  pid_t jail() const { return jail_; }

  // The descriptors of the jail.
  static constexpr int kSocket = 20, kProgram = 21, kOther = 22, kPlan = 23, kReport = 24;

  SandboxSpec sandbox_;
  Guarded guarded_;
  OwnedFd socket_;
  support::ScratchDir workspace_, tmpdir_;

 private:
  void BecomeUser() const {
    if (::geteuid() == GetParam()) return;
    (void)::setgroups(0, nullptr);
    if (::setresgid(GetParam(), GetParam(), GetParam()) < 0 || ::setresuid(GetParam(), GetParam(), GetParam()) < 0) {
      ::_exit(98);
    }
  }

  // The helper in sealed memory, made once for all tests.
  static int Image() {
    static const OwnedFd image = [] {
      const auto path = std::filesystem::path(HOLDFAST_BINARY).parent_path() / "holdfast-linux-sandbox";
      const OwnedFd source(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
      auto copy = sys::BeginExecutableCopy("launcher");
      const auto finished = sys::FinishExecutableCopy(copy->get(), source.get(), sys::ImageMode::kOnlyExecutable);
      EXPECT_TRUE(finished) << path;
      return *std::move(copy);
    }();
    return image.get();
  }

  pid_t jail_ = -1;
};

inline std::vector<uid_t> UsersOfJails() {
  constexpr uid_t ordinary = 1000;
  return ::geteuid() == 0 ? std::vector<uid_t>{0, ordinary} : std::vector<uid_t>{::geteuid()};
}

inline std::string NameOfUser(const testing::TestParamInfo<uid_t>& info) { return info.param == 0 ? "Root" : "User"; }

}  // namespace holdfast::sandbox
