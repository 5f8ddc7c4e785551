// Callers that change what they execute while the supervisor decides about it. Each test goes on until it has seen the
// change come in time and come too late: before that it has proven nothing. A strict supervisor is tried at least 1000
// times.
#include <fcntl.h>
#include <linux/limits.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <string>

#include <gtest/gtest.h>

#include "base/owned_fd.h"
#include "escalate/seccomp/supervised_fixture.h"
#include "support/contents.h"

namespace holdfast::escalate {
namespace {

using exec_policy::ExecAttempt;
using exec_policy::Judgement;
using namespace std::chrono_literals;

constexpr int kMaxRuns = 100, kTriesOfRun = 25;
constexpr int kTries = 1000, kEnough = 20;  // of a strict supervisor: in all, and of each kind

// A path in memory that this test shares with the caller.
class SharedPath {
 public:
  explicit SharedPath(std::string file) : file_(std::move(file)) {
    const OwnedFd fd(::open(file_.c_str(), O_RDWR | O_CLOEXEC));
    path_ = static_cast<const char*>(::mmap(nullptr, PATH_MAX, PROT_READ, MAP_SHARED, fd.get(), 0));
  }
  ~SharedPath() { ::munmap(const_cast<char*>(path_), PATH_MAX); }
  SharedPath(const SharedPath&) = delete;
  SharedPath& operator=(const SharedPath&) = delete;

  const std::string& file() const { return file_; }
  std::string Look() const { return {path_, ::strnlen(path_, PATH_MAX)}; }

 private:
  const std::string file_;
  const char* path_;
};

class SupervisedRaceTest : public SupervisedFixture {
 protected:
  // Runs a caller until `done` returns true, and returns false if that does not happen in many runs.
  bool RunUntil(const Words& words, const SupervisorSettings& settings, const std::function<bool()>& done) {
    for (int run = 0; run < kMaxRuns; ++run) {
      const auto command = Start(words, settings);
      EXPECT_TRUE(RunLoopUntil([&] { return command->HasEnded(); }));
      out_ = command->out();
      if (done()) return true;
    }
    return false;
  }

  std::string Script(const std::string& name) const {
    return scratch_.Write(name, "#!/bin/sh\necho ran >> " + MarksOf(name) + "\n", 0755);
  }
  std::string MarksOf(const std::string& name) const { return scratch_.path() + "/marks-" + name; }
  bool HasRun(const std::string& name) const { return ::access(MarksOf(name).c_str(), F_OK) == 0; }

  std::string out_;  // of the last run
};

class FlippedPathTest : public SupervisedRaceTest {
 protected:
  Words Attack() const {
    return {CallerProgram(), "flip-path", allowed_, denied_, std::to_string(kTriesOfRun), path_.file()};
  }

  // A judge that forbids one of the two programs, and looks which one the path in memory names when it has judged.
  SupervisorSettings Settings(Strictness strictness) {
    return {.judge =
                [this](const ExecAttempt& attempt) {
                  const std::string now = path_.Look();
                  if (attempt.file == allowed_) ++(now == denied_ ? flipped_ : kept_);
                  if (attempt.file == denied_) ++forbidden_;
                  return Judgement{.action = attempt.file == denied_ ? exec_policy::Action::kDeny
                                                                     : exec_policy::Action::kRun};
                },
            .strictness = strictness};
  }

  const std::string allowed_ = Script("allow"), denied_ = Script("deny1");
  const SharedPath path_{scratch_.Write("path", std::string(PATH_MAX, '\0'))};
  std::atomic<int> flipped_ = 0, kept_ = 0, forbidden_ = 0;
};

// Without strictness a caller can have a program run that a rule forbids, inside the sandbox. That is what the flipping
// is good for, and so what the next test has to withstand.
TEST_F(FlippedPathTest, DeceivesASupervisorThatIsNotStrict) {
  EXPECT_TRUE(RunUntil(Attack(), Settings(Strictness::kUsual),
                       [&] { return HasRun("deny1") && HasRun("allow") && forbidden_ > 0; }));
}

TEST_F(FlippedPathTest, NeverDeceivesAStrictSupervisor) {
  int tries = 0;
  EXPECT_TRUE(RunUntil(Attack(), Settings(Strictness::kStrict), [&] {
    tries += kTriesOfRun;
    return HasRun("deny1") || (tries >= kTries && flipped_ >= kEnough && kept_ >= kEnough && forbidden_ >= kEnough);
  }));
  EXPECT_GE(tries, kTries);
  EXPECT_GE(flipped_, kEnough);
  EXPECT_GE(kept_, kEnough);
  EXPECT_FALSE(HasRun("deny1"));
  EXPECT_TRUE(HasRun("allow"));
}

// A link leads to the one program or the other while the supervisor decides. Both get the file to make as an argument,
// and only the forbidden one makes it.
class FlippedLinkTest : public SupervisedRaceTest {
 protected:
  FlippedLinkTest() {
    std::filesystem::copy("/bin/true", allowed_);
    std::filesystem::copy("/bin/touch", denied_);
    std::filesystem::create_symlink(allowed_, directory_ + "/one");
    std::filesystem::create_symlink(denied_, directory_ + "/other");
  }

  Words Attack() const {
    return {CallerProgram(), "flip-link", directory_ + "/one", directory_ + "/other", std::to_string(kTriesOfRun),
            MarksOf("deny")};
  }

  SupervisorSettings Settings(Strictness strictness) {
    return {.judge =
                [this](const ExecAttempt& attempt) {
                  const bool is_denied =
                      attempt.file == denied_ || std::ranges::count(attempt.other_paths, denied_) > 0;
                  if (is_denied) ++forbidden_;
                  return Judgement{.action = is_denied ? exec_policy::Action::kDeny : exec_policy::Action::kRun};
                },
            .strictness = strictness};
  }

  const std::string directory_ = std::filesystem::canonical(scratch_.path());
  const std::string allowed_ = directory_ + "/allowed", denied_ = directory_ + "/denied";
  std::atomic<int> forbidden_ = 0;
};

TEST_F(FlippedLinkTest, DeceivesASupervisorThatIsNotStrict) {
  EXPECT_TRUE(RunUntil(Attack(), Settings(Strictness::kUsual), [&] { return HasRun("deny") && forbidden_ > 0; }));
}

// A process that has become the forbidden program is killed before it does anything.
TEST_F(FlippedLinkTest, NeverDeceivesAStrictSupervisor) {
  if (::geteuid() != 0) GTEST_SKIP() << "without root, only a sandbox with namespaces is strict";
  int tries = 0, killed = 0;
  EXPECT_TRUE(RunUntil(Attack(), Settings(Strictness::kStrict), [&] {
    int killed_now = 0;
    EXPECT_EQ(std::sscanf(out_.c_str(), "killed %d", &killed_now), 1) << out_;
    killed += killed_now;
    tries += kTriesOfRun;
    return HasRun("deny") || (tries >= kTries && killed >= kEnough);
  }));
  EXPECT_GE(killed, kEnough);
  EXPECT_FALSE(HasRun("deny"));
}

TEST_F(SupervisedRaceTest, AnotherProgramInThePlaceOfTheStubIsKilled) {
  const std::string evil = Script("evil");
  Deny("true");
  int killed = 0, refused = 0;
  EXPECT_TRUE(RunUntil({CallerProgram(), "replace-stub", "/bin/true", evil, "25"}, {},
                       [&] {
                         int killed_now = 0, refused_now = 0;
                         EXPECT_EQ(std::sscanf(out_.c_str(), "killed %d refused %d", &killed_now, &refused_now), 2)
                             << out_;
                         killed += killed_now;
                         refused += refused_now;
                         return HasRun("evil") || (killed > 0 && refused > 0);
                       }))
      << killed << " killed, " << refused << " refused";
  EXPECT_FALSE(HasRun("evil"));
}

}  // namespace
}  // namespace holdfast::escalate
