// The fixture executes the stub under a seccomp filter, as a supervisor does, and plays the part of the supervisor: it
// answers the stub's hello with a control socket, sends orders and receives messages.
#pragma once

#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "escalate/stub/protocol.h"
#include "escalate/stub/stub_image.h"
#include "support/eventually.h"
#include "support/test_socket.h"
#include "sys/descriptor_passing.h"
#include "sys/executable_image.h"
#include "sys/io.h"
#include "sys/signals.h"
#include "sys/socket_pair.h"

namespace holdfast::escalate {

class StubFixture : public testing::Test {
 protected:
  void SetUp() override {
    auto pair = sys::MakeSocketPair(sys::SocketKind::kPacket);
    ASSERT_TRUE(pair);
    control_ = std::move(pair->ours);
    theirs_ = std::move(pair->theirs);
    const timeval patience = {.tv_sec = 10, .tv_usec = 0};
    ASSERT_EQ(::setsockopt(control_.get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience), 0);
    auto errors = sys::MakePipe(sys::OurEnd::kRead);
    ASSERT_TRUE(errors);
    errors_ = std::move(errors->read_end);
    stub_errors_ = std::move(errors->write_end);
  }

  void TearDown() override {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    (void)::waitpid(pid_, nullptr, 0);
  }

  // Starts the stub in a process that has called `prepare`, and answers its hello. The stub leads a process group of
  // the test's session.
  void StartStub(const std::function<void()>& prepare = [] {}) {
    auto image = sys::MakeExecutableImage("stub", StubImage());
    auto handover = sys::MakeSocketPair(sys::SocketKind::kStream);
    ASSERT_TRUE(image && handover);
    pid_ = ::fork();
    ASSERT_GE(pid_, 0);
    if (pid_ == 0) BecomeStub(image->get(), handover->theirs.get(), prepare);
    auto received = sys::ReceiveDescriptors(handover->ours.get());
    ASSERT_TRUE(received && received->size() == 1);
    listener_ = std::move(received->front());
    EXPECT_EQ(NextCall().data.nr, __NR_execveat);
    LetGo();
    const seccomp_notif hello = NextCall();
    EXPECT_EQ(hello.data.nr, __NR_execve);
    EXPECT_THAT(std::vector(hello.data.args, hello.data.args + 3),
                testing::ElementsAre(kHelloPath, kHelloArgv, kHelloEnvp));
    seccomp_notif_addfd answer = {.id = hello.id,
                                  .flags = SECCOMP_ADDFD_FLAG_SEND,
                                  .srcfd = static_cast<uint32_t>(theirs_.get()),
                                  .newfd = 0,
                                  .newfd_flags = O_CLOEXEC};
    EXPECT_GE(::ioctl(listener_.get(), SECCOMP_IOCTL_NOTIF_ADDFD, &answer), 0);
    theirs_.Reset();
  }

  // Waits for the next execve or execveat of the stub.
  seccomp_notif NextCall() {
    pollfd wanted = {listener_.get(), POLLIN, 0};
    EXPECT_EQ(::poll(&wanted, 1, static_cast<int>(support::kPatience.count())), 1);
    call_ = {};
    EXPECT_EQ(::ioctl(listener_.get(), SECCOMP_IOCTL_NOTIF_RECV, &call_), 0);
    return call_;
  }

  // Lets that call go on.
  void LetGo() {
    seccomp_notif_resp answer = {.id = call_.id, .val = 0, .error = 0, .flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE};
    EXPECT_EQ(::ioctl(listener_.get(), SECCOMP_IOCTL_NOTIF_SEND, &answer), 0);
  }

  void Send(const StubOrder& order, std::string_view text = {}) const {
    const std::string packet = std::string(reinterpret_cast<const char*>(&order), sizeof order).append(text);
    EXPECT_EQ(::send(control_.get(), packet.data(), packet.size(), MSG_NOSIGNAL), static_cast<ssize_t>(packet.size()));
  }

  std::optional<StubMessage> Receive() const {
    StubMessage message = {};
    if (::recv(control_.get(), &message, sizeof message, 0) != sizeof message) return std::nullopt;
    return message;
  }

  // Has the stub stand in for a command outside, and returns the state that it tells.
  ProcessState StandIn() const {
    Send({.kind = StubOrderKind::kStandIn, .value = 0, .size = 0, .continue_count = 0});
    const auto ready = Receive();
    EXPECT_TRUE(ready && ready->kind == StubMessageKind::kReady);
    return ready ? ready->state : ProcessState{};
  }

  // Returns the signal of the next message, or 0 if another message comes.
  int NextSignal() const {
    const auto message = Receive();
    return message && message->kind == StubMessageKind::kSignal ? message->value : 0;
  }

  // Waits for the next change of the stub: its end, or a stop.
  int AwaitStatus() {
    int status = -1;
    const bool has_changed = support::Eventually([&] { return ::waitpid(pid_, &status, WUNTRACED | WNOHANG) == pid_; });
    EXPECT_TRUE(has_changed);
    if (has_changed && !WIFSTOPPED(status)) pid_ = -1;
    return status;
  }

  std::string Errors() {
    stub_errors_.Reset();
    std::string text(64u << 10, '\0');
    const ssize_t size = sys::Read(errors_.get(), text.data(), text.size());
    text.resize(size > 0 ? static_cast<size_t>(size) : 0);
    return text;
  }

  OwnedFd control_, theirs_, errors_, stub_errors_, listener_;
  pid_t pid_ = -1;
  seccomp_notif call_ = {};

 private:
  [[noreturn]] void BecomeStub(int image, int handover, const std::function<void()>& prepare) const {
    ::setpgid(0, 0);
    sys::ResetSignalActions();  // a test before this one may have ignored a signal
    ::dup2(stub_errors_.get(), 2);
    prepare();
    const int listener = InstallFilter();
    if (listener < 0 || !sys::SendDescriptors(handover, std::span(&listener, 1))) ::_exit(99);
    const char* argv[] = {"stub", nullptr};
    ::syscall(__NR_execveat, image, "", argv, argv + 1, AT_EMPTY_PATH);
    ::_exit(98);
  }

  // Installs a filter that asks the listener about every execve and execveat.
  static int InstallFilter() {
    sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_execve, 1, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_execveat, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    const sock_fprog program = {.len = std::size(code), .filter = code};
    if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return -1;
    return static_cast<int>(
        ::syscall(__NR_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER, &program));
  }
};

}  // namespace holdfast::escalate
