#include "support/server_process.h"

#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/eventually.h"
#include "support/proc.h"
#include "sys/exit_status.h"

namespace holdfast::support {
namespace {

using Clock = std::chrono::steady_clock;

std::string BinaryPath() {
  const char* other = std::getenv("HOLDFAST_BINARY");
  return other != nullptr ? other : HOLDFAST_BINARY;
}

struct Pipe {
  OwnedFd read_end, write_end;
};

Pipe MakePipe() {
  int fds[2];
  EXPECT_EQ(::pipe2(fds, O_CLOEXEC), 0);
  return {OwnedFd(fds[0]), OwnedFd(fds[1])};
}

std::vector<char*> Pointers(std::vector<std::string>& strings) {
  std::vector<char*> pointers;
  for (std::string& text : strings) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

// Returns the environment of the test, in which `more` replaces variables of the same name.
std::vector<std::string> Environment(const std::vector<std::string>& more) {
  const auto name = [](const std::string& variable) { return variable.substr(0, variable.find('=')); };
  std::vector<std::string> variables = more;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string own = *entry;
    if (std::ranges::find(more, name(own), name) == more.end()) variables.push_back(own);
  }
  return variables;
}

struct Image {
  std::vector<std::string> arguments, env;
  int in, out, err;
  std::optional<uid_t> user;
};

// The binary is opened first, because that user may have no access to its path.
[[noreturn]] void ExecuteAsInChild(uid_t user, char* const* argv, char* const* envp) {
  const int binary = ::open(argv[0], O_PATH | O_CLOEXEC);
  if (::setgroups(0, nullptr) < 0 || ::setgid(user) < 0 || ::setuid(user) < 0) ::_exit(126);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // set again, because the kernel clears it when the user changes
  ::syscall(SYS_execveat, binary, "", argv, envp, AT_EMPTY_PATH);
  ::_exit(127);
}

// A server must not outlive a test that was killed.
[[noreturn]] void ExecuteInChild(char* const* argv, char* const* envp, const Image& image) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  ::dup2(image.in, STDIN_FILENO);
  ::dup2(image.out, STDOUT_FILENO);
  ::dup2(image.err, STDERR_FILENO);
  if (image.user) ExecuteAsInChild(*image.user, argv, envp);
  ::execve(argv[0], argv, envp);
  ::_exit(127);
}

pid_t Spawn(Image image) {
  image.arguments.insert(image.arguments.begin(), BinaryPath());
  const std::vector<char*> argv = Pointers(image.arguments), envp = Pointers(image.env);
  const pid_t pid = ::fork();
  if (pid == 0) ExecuteInChild(argv.data(), envp.data(), image);
  return pid;
}

// Switches the startup check off, which is another process, unless the test is about it.
void AddQuiet(std::vector<std::string>& arguments) {
  const auto is_check = [](const std::string& word) { return word.starts_with("--sandbox-check"); };
  if (std::ranges::none_of(arguments, is_check)) arguments.emplace_back("--sandbox-check=false");
}

std::string ReadToEnd(int fd) {
  std::string all;
  char block[4096];
  ssize_t n;
  while ((n = ::read(fd, block, sizeof block)) > 0) all.append(block, static_cast<size_t>(n));
  return all;
}

}  // namespace

TempDir::TempDir() {
  std::string name = (std::filesystem::temp_directory_path() / "holdfast-test-XXXXXX").string();
  EXPECT_NE(::mkdtemp(name.data()), nullptr);
  path_ = name;
}

TempDir::~TempDir() {
  std::error_code busy;
  std::filesystem::remove_all(path_, busy);
}

std::string RunMarker() { return "HOLDFAST_TEST_RUN=" + std::to_string(::getpid()); }

std::string ThriftySanitizer() {
  const char* options = std::getenv("ASAN_OPTIONS");
  return "ASAN_OPTIONS=" + std::string(options != nullptr ? options : "") + ":quarantine_size_mb=4";
}

bool IsSanitized() {
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
  return std::getenv("HOLDFAST_BINARY") == nullptr;
#else
  return false;
#endif
}

ServerProcess ServerProcess::Launch(const std::vector<std::string>& arguments, const std::vector<std::string>& env,
                                    std::optional<uid_t> user) {
  ServerProcess server;
  Pipe in = MakePipe(), out = MakePipe();
  const OwnedFd err(::open(server.dir_->Path("stderr").c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600));
  server.pid_ = Spawn({arguments, Environment(env), in.read_end.get(), out.write_end.get(), err.get(), user});
  server.input_ = std::move(in.write_end);
  server.output_ = std::move(out.read_end);
  return server;
}

ServerProcess ServerProcess::Start(const ServerOptions& options) {
  std::vector<std::string> arguments = {"exec-server"};
  arguments.insert(arguments.end(), options.flags.begin(), options.flags.end());
  AddQuiet(arguments);
  ServerProcess server = Launch(arguments, options.env, options.user);
  server.ReadUrl();
  return server;
}

ServerProcess ServerProcess::StartWithUrlFile(const std::string& file, ServerOptions options) {
  options.flags.insert(options.flags.begin(), {"exec-server", "--url-file", file});
  AddQuiet(options.flags);
  ServerProcess server = Launch(options.flags, options.env, options.user);
  EXPECT_TRUE(Eventually([&] { return std::filesystem::exists(file); })) << server.Stderr();
  std::ifstream reader(file);
  std::getline(reader, server.url_);
  return server;
}

ServerProcess ServerProcess::StartAs(const std::vector<std::string>& arguments, const std::vector<std::string>& env) {
  ServerProcess server = Launch(arguments, env);
  server.ReadUrl();
  return server;
}

ServerProcess ServerProcess::StartOnStdio(std::vector<std::string> flags) {
  flags.insert(flags.begin(), {"exec-server", "--listen", "stdio"});
  AddQuiet(flags);
  return Launch(flags);
}

void ServerProcess::ReadUrl() {
  const auto deadline = Clock::now() + kPatience;
  for (size_t end; (end = early_stdout_.find('\n')) == std::string::npos;) {
    pollfd entry{.fd = output(), .events = POLLIN, .revents = 0};
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now());
    char block[256];
    const ssize_t n =
        ::poll(&entry, 1, static_cast<int>(left.count())) == 1 ? ::read(output(), block, sizeof block) : 0;
    if (n <= 0) {
      ADD_FAILURE() << "the server says no URL: " << Stderr();
      return;
    }
    early_stdout_.append(block, static_cast<size_t>(n));
  }
  const size_t end = early_stdout_.find('\n');
  url_ = early_stdout_.substr(0, end);
  early_stdout_.erase(0, end + 1);
}

ServerProcess::~ServerProcess() {
  if (dir_ == nullptr) return;  // moved from
  if (pid_ > 0) Stop();
  EXPECT_TRUE(Eventually([] { return LivingWithVariable(RunMarker()).empty(); }))
      << "alive: " << testing::PrintToString(LivingWithVariable(RunMarker()));
}

void ServerProcess::Signal(int signal) const { ::kill(pid_, signal); }

std::optional<int> ServerProcess::WaitForExit(std::chrono::milliseconds patience) {
  int status = 0;
  if (!Eventually([&] { return ::waitpid(pid_, &status, WNOHANG) != 0; }, patience)) return std::nullopt;
  pid_ = -1;
  return sys::ExitStatusOf(status);
}

void ServerProcess::Stop() {
  Signal(SIGTERM);
  const auto exit_code = WaitForExit();
  if (!exit_code) Kill();
  EXPECT_EQ(exit_code, 0) << Stderr();
}

void ServerProcess::Kill() {
  Signal(SIGKILL);
  EXPECT_TRUE(WaitForExit().has_value());
}

std::string ServerProcess::RestOfStdout() { return early_stdout_ + ReadToEnd(output()); }

std::string ServerProcess::Stderr() const {
  std::ifstream file(dir_->Path("stderr"), std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(file), {});
}

Finished RunHoldfast(const std::vector<std::string>& arguments) {
  ServerProcess process = ServerProcess::Launch(arguments);
  process.CloseInput();
  const auto exit_code = process.WaitForExit();
  if (!exit_code) {
    ADD_FAILURE() << "still running: " << testing::PrintToString(arguments);
    process.Kill();
  }
  return {exit_code.value_or(-1), process.RestOfStdout(), process.Stderr()};
}

}  // namespace holdfast::support
