#include "process/command/start_report.h"

#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "sys/io.h"

namespace holdfast::process {
namespace {

constexpr std::string_view kDied = "the sandbox's helper ended before the command was started";

// Returns the reason of a failure in a report, and "" if the report tells of a start.
std::string Reason(std::string_view report) {
  const auto parsed = ParseStartReport(report);
  return parsed ? "" : parsed.error().message;
}

// Returns what `write` has written into a pipe.
template <typename Write>
std::string Written(Write write) {
  auto pipe = sys::MakePipe(sys::OurEnd::kRead);
  write(pipe->write_end.get());
  std::string text(8192, '\0');
  const ssize_t size = sys::Read(pipe->read_end.get(), text.data(), text.size());
  text.resize(size > 0 ? static_cast<size_t>(size) : 0);
  return text;
}

TEST(StartReportTest, SaysWhatEachReportMeans) {
  const struct {
    std::string_view report, reason;
  } cases[] = {
      {"started\n", ""},
      {"executing\n", ""},
      {"executing\nstarted\n", ""},
      {"started native\n", ""},
      {"executing landlock\n", ""},
      {"executing landlock\nfailed 126 exec x: Permission denied\n", "exec x: Permission denied"},
      {"failed 127 exec x: No such file or directory\n", "exec x: No such file or directory"},
      {"executing\nfailed 126 exec x: Permission denied\n", "exec x: Permission denied"},
      {"failed 1 cut sho", "cut sho"},
      {"failed 1 first\nsecond\n", "first"},
      {"failed 1\n", "1"},
      {"", kDied},
      {"start", kDied},
      {"started", kDied},
      {"executing", kDied},
      {"started native", kDied},
      {"started\nstarted\n", kDied},
      {"startednative\n", kDied},
      {"maybe\n", kDied},
  };
  for (const auto& [report, reason] : cases) EXPECT_EQ(Reason(report), reason) << report;
}

TEST(StartReportTest, TellsAProgramThatDoesNotExistFromOneThatCannotBeExecuted) {
  const struct {
    std::string_view report;
    ErrorKind kind;
  } cases[] = {
      {"failed 127 exec x: gone\n", ErrorKind::kNoSuchProgram},
      {"executing\nfailed 126 exec x: no\n", ErrorKind::kCannotExecute},
      {"failed 1 chdir /x: gone\n", ErrorKind::kSystem},
      {"failed 1279 x\n", ErrorKind::kSystem},
      {"failed \n", ErrorKind::kSystem},
      {"", ErrorKind::kSystem},
  };
  for (const auto& [report, kind] : cases) EXPECT_EQ(ParseStartReport(report).error().kind, kind) << report;
}

TEST(StartReportTest, IsCompleteWithALineThatDecides) {
  for (const std::string_view report : {"", "started", "started native", "failed 1 half", "executing", "executing\n",
                                        "executing landlock", "executing landlock\n", "executing\nfailed"}) {
    EXPECT_EQ(ProgressOf(report), ReportProgress::kMore) << report;
  }
  for (const std::string_view report : {"started\n", "started native\n", "failed 1 x\n", "executing\nfailed 1 x\n",
                                        "executing landlock\nfailed 1 x\n"}) {
    EXPECT_EQ(ProgressOf(report), ReportProgress::kComplete) << report;
  }
  EXPECT_EQ(ProgressOf(std::string(kMaxStartReportBytes + 1, 'x')), ReportProgress::kComplete);
}

TEST(StartReportTest, WhatIsWrittenIsUnderstood) {
  EXPECT_EQ(Reason(Written([](int fd) { ReportStarted(fd); })), "");
  EXPECT_EQ(Reason(Written([](int fd) { ReportExecuting(fd); })), "");
  EXPECT_EQ(Reason(Written([](int fd) { ReportFailed(fd, 127, "no such program"); })), "no such program");
  EXPECT_EQ(Reason(Written([](int fd) {
              ReportExecuting(fd);
              ReportFailed(fd, 126, "two\nlines");
            })),
            "two lines");
}

TEST(StartReportTest, TheBackendAndTheReasonForItComeBack) {
  const Enforcement cases[] = {
      {}, {.backend = "native"}, {.backend = "bubblewrap", .reason = "the kernel is older than 5.12. Use another."}};
  for (const Enforcement& enforcement : cases) {
    const std::string started = Written([&](int fd) { ReportStarted(fd, enforcement); });
    const std::string executing = Written([&](int fd) { ReportExecuting(fd, enforcement); });
    EXPECT_EQ(ParseStartReport(started), enforcement);
    EXPECT_EQ(ParseStartReport(executing), enforcement);
    EXPECT_EQ(ProgressOf(executing), ReportProgress::kMore);
  }
  EXPECT_EQ(Written([](int fd) { ReportStarted(fd, {.backend = "native"}); }), "started native\n");
}

TEST(StartReportTest, AReasonOfSeveralLinesStaysInItsLine) {
  const std::string line =
      Written([](int fd) { ReportStarted(fd, {.backend = "bubblewrap", .reason = "two\nlines"}); });
  EXPECT_EQ(line, "started bubblewrap two lines\n");
}

TEST(StartReportTest, ALongReasonLeavesInOnePiece) {
  const std::string started =
      Written([](int fd) { ReportStarted(fd, {.backend = "bubblewrap", .reason = std::string(10'000, 'x')}); });
  EXPECT_LE(started.size(), 4096u);
  EXPECT_TRUE(started.ends_with("xxx\n")) << started.size();

  const std::string line = Written([](int fd) { ReportFailed(fd, 1, std::string(10'000, 'x')); });
  EXPECT_LE(line.size(), 4096u);
  EXPECT_TRUE(line.ends_with("xxx\n")) << line.size();
}

TEST(StartReportTest, AReaderThatHasGoneAwayIsNoError) {
  auto pipe = sys::MakePipe(sys::OurEnd::kRead);
  pipe->read_end.Reset();
  ReportStarted(pipe->write_end.get());  // SIGPIPE would end this process
  EXPECT_EQ(Reason(""), kDied);
}

}  // namespace
}  // namespace holdfast::process
