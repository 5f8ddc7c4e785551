#include "exec_server/startup_check.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <fstream>
#include <functional>
#include <iterator>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/log.h"
#include "base/owned_fd.h"
#include "exec_server/config/config.h"
#include "loop/event_loop.h"
#include "process/spawner.h"
#include "support/loop_runner.h"
#include "support/scratch_dir.h"
#include "sys/io.h"

namespace holdfast::exec_server {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class StartupCheckTest : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(sys::ReserveLowFds());
    auto spawner = process::Spawner::Create(loop_);
    ASSERT_TRUE(spawner);
    spawner_ = *std::move(spawner);
    InitLog(LogLevel::kWarn, LogFormat::kText);
  }
  void TearDown() override {
    InitLog(LogLevel::kOff, LogFormat::kText);
    check_.reset();
    EXPECT_TRUE(support::RunUntil(loop_, [&] { return spawner_->orphans() == 0; }));
  }

  static process::Command Script(std::string script) {
    return {.program = "/bin/sh",
            .search_path = {},
            .argv = {"sh", "-c", std::move(script)},
            .env = {{"PATH", "/usr/bin:/bin"}},
            .cwd = "/"};
  }

  void Start(const process::Command& command) {
    auto check = StartupCheck::Start(loop_, *spawner_, command);
    if (check) check_ = *std::move(check);
  }

  // Calls `start`, and returns what is logged until `last` is in the log.
  std::string Logged(const std::function<void()>& start, std::string_view last) {
    const StderrInFile replaced(log_path_);
    start();
    EXPECT_TRUE(support::RunUntil(loop_, [&] { return ReadLog().contains(last); })) << ReadLog();
    return ReadLog();
  }
  std::string LoggedOf(const process::Command& command, std::string_view last) {
    return Logged([&] { Start(command); }, last);
  }

 private:
  class StderrInFile {
   public:
    explicit StderrInFile(const std::string& path) : saved_(::fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 10)) {
      const OwnedFd file(::open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
      ::dup2(file.get(), STDERR_FILENO);
    }
    ~StderrInFile() { ::dup2(saved_.get(), STDERR_FILENO); }
    StderrInFile(const StderrInFile&) = delete;
    StderrInFile& operator=(const StderrInFile&) = delete;

   private:
    OwnedFd saved_;
  };

  std::string ReadLog() const {
    std::ifstream file(log_path_);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  support::ScratchDir scratch_;
  const std::string log_path_ = scratch_.path() + "/log";
  loop::EventLoop loop_;
  Config config_;
  std::unique_ptr<process::Spawner> spawner_;
  std::unique_ptr<StartupCheck> check_;
};

constexpr char kUnchecked[] = "warn sandbox.unchecked reason=";

TEST_F(StartupCheckTest, LogsEachLineAsAWarning) {
  const std::string log = LoggedOf(Script("echo 'It is old.'; echo 'It is slow.'"), "slow");
  EXPECT_THAT(log, AllOf(HasSubstr("warn sandbox.limited why=\"It is old.\"\n"),
                         HasSubstr("warn sandbox.limited why=\"It is slow.\"\n")));
  EXPECT_THAT(log, Not(HasSubstr("unchecked")));
}

TEST_F(StartupCheckTest, TellsThatTheProgramIsNotThere) {
  process::Command command = Script("");
  command.program = "/no/such/program";
  EXPECT_THAT(LoggedOf(command, "\n"),
              AllOf(HasSubstr(kUnchecked), HasSubstr("/no/such/program"), HasSubstr("No such file or directory")));
}

TEST_F(StartupCheckTest, TellsThatThereAreNoDescriptorsToStartIt) {
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  const rlimit few{.rlim_cur = 3,
                   .rlim_max = before.rlim_max};  // with a limit of 0, poll would fail and nothing be logged
  const auto start_with_few = [&] {
    ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &few), 0);
    Start(Script("true"));
    ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
  };
  EXPECT_THAT(Logged(start_with_few, "\n"), AllOf(HasSubstr(kUnchecked), HasSubstr("Too many open files")));
}

TEST_F(StartupCheckTest, TellsThatItFailedAndWhatItSaid) {
  EXPECT_THAT(LoggedOf(Script("echo 'cannot load: libx' >&2; echo more >&2; exit 3"), "\n"),
              AllOf(HasSubstr(kUnchecked), HasSubstr("status 3: cannot load: libx\"\n")));
}

TEST_F(StartupCheckTest, TellsThatItWasKilledAndKeepsWhatItFoundBefore) {
  EXPECT_THAT(LoggedOf(Script("echo 'It is old.'; kill -SEGV $$"), "status"),
              AllOf(HasSubstr("sandbox.limited why=\"It is old.\""), HasSubstr(kUnchecked), HasSubstr("status 139")));
}

TEST_F(StartupCheckTest, WhatIsNoTextIsNoWarning) {
  for (const char* script : {"printf 'a\\001b\\n'", "printf 'half a li'", "seq 1000"}) {
    const std::string log = LoggedOf(Script(script), "\n");
    EXPECT_THAT(log, AllOf(HasSubstr(kUnchecked), Not(HasSubstr("sandbox.limited")))) << script;
  }
}

}  // namespace
}  // namespace holdfast::exec_server
