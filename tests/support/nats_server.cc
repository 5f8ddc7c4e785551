#include "support/nats_server.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <utility>

#include <gtest/gtest.h>

#include "support/contents.h"
#include "support/eventually.h"
#include "support/required_program.h"

// libnats 3.4.1 does not free a message of which a part has arrived when its connection ends.
extern "C" const char* __lsan_default_suppressions() { return "leak:natsBuf_Create\n"; }

namespace holdfast::support {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void ExecInChild(const std::vector<std::string>& words) noexcept {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  const int null = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) ::dup2(null, fd);
  std::vector<char*> argv;
  for (const std::string& word : words) argv.push_back(const_cast<char*>(word.c_str()));  // exec only reads
  argv.push_back(nullptr);
  ::execv(argv[0], argv.data());
  ::_exit(99);
}

// Returns the port in the file that the server writes when it listens: {"nats":["nats://127.0.0.1:4222"]}.
std::optional<int> PortIn(const std::string& file) {
  std::error_code missing;
  if (!fs::exists(file, missing)) return std::nullopt;
  const std::string text = Contents(file);
  const size_t colon = text.rfind(':');
  if (!text.ends_with("}") || colon == std::string::npos) return std::nullopt;
  return std::atoi(text.c_str() + colon + 1);
}

}  // namespace

NatsServer::NatsServer(std::vector<std::string> flags) : flags_(std::move(flags)) { Start(); }

NatsServer::~NatsServer() { Kill(); }

void NatsServer::Start() {
  std::vector<std::string> words = {PathOfProgram("nats-server").value_or(""),
                                    "-a",
                                    "127.0.0.1",
                                    "-p",
                                    std::to_string(port_),
                                    "-js",
                                    "-sd",
                                    dir_.path() + "/jetstream",
                                    "--ports_file_dir",
                                    dir_.path(),
                                    "-l",
                                    dir_.path() + "/log"};
  words.insert(words.end(), flags_.begin(), flags_.end());
  pid_ = ::fork();
  if (pid_ == 0) ExecInChild(words);
  const std::string ports = dir_.path() + "/nats-server_" + std::to_string(pid_) + ".ports";
  std::optional<int> port;
  EXPECT_TRUE(Eventually([&] { return (port = PortIn(ports)).has_value(); })) << Contents(dir_.path() + "/log");
  port_ = port.value_or(-1);
}

void NatsServer::Kill() {
  if (pid_ < 0) return;
  ::kill(pid_, SIGKILL);
  ::waitpid(pid_, nullptr, 0);
  pid_ = -1;
  std::error_code ignored;  // the next start would fail and tell
  fs::remove_all(dir_.path() + "/jetstream", ignored);
}

void NatsServer::Pause() const {
  ::kill(pid_, SIGSTOP);
  EXPECT_EQ(::waitpid(pid_, nullptr, WUNTRACED), pid_);
}

void NatsServer::GoOn() const { ::kill(pid_, SIGCONT); }

}  // namespace holdfast::support
