#include "base/log.h"

#include <fcntl.h>
#include <unistd.h>

#include <cctype>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <ctime>
#include <functional>
#include <optional>
#include <string>

#include <gtest/gtest.h>

#include "base/owned_fd.h"

namespace holdfast {
namespace {

using namespace std::string_view_literals;

struct Pipe {
  Pipe() {
    int ends[2];
    EXPECT_EQ(::pipe2(ends, O_CLOEXEC), 0);
    read_end = OwnedFd(ends[0]);
    write_end = OwnedFd(ends[1]);
  }
  OwnedFd read_end, write_end;
};

class StderrReplaced {
 public:
  explicit StderrReplaced(int fd) : saved_(::dup(STDERR_FILENO)) { ::dup2(fd, STDERR_FILENO); }
  ~StderrReplaced() { ::dup2(saved_.get(), STDERR_FILENO); }

 private:
  OwnedFd saved_;
};

std::string ReadAll(int fd) {
  std::string text;
  char block[4096];
  for (ssize_t got = 0; (got = ::read(fd, block, sizeof block)) > 0;) text.append(block, static_cast<size_t>(got));
  return text;
}

std::string Captured(const std::function<void()>& act) {
  Pipe pipe;
  {
    const StderrReplaced replaced(pipe.write_end.get());
    act();
  }
  pipe.write_end.Reset();
  return ReadAll(pipe.read_end.get());
}

constexpr std::string_view kTimePattern = "2026-11-15T04:33:01.123Z";

// Checks the form of the time at `from` and removes it, so that the rest of the line can be compared exactly.
std::string WithoutTime(std::string line, size_t from) {
  EXPECT_GE(line.size(), from + kTimePattern.size());
  for (size_t i = 0; i < kTimePattern.size() && from + i < line.size(); ++i) {
    const bool digit = kTimePattern[i] >= '0' && kTimePattern[i] <= '9';
    EXPECT_TRUE(digit ? std::isdigit(line[from + i]) != 0 : line[from + i] == kTimePattern[i]) << line;
  }
  return line.erase(from, kTimePattern.size());
}

class LogTest : public testing::Test {
 protected:
  ~LogTest() override { InitLog(LogLevel::kInfo, LogFormat::kText); }

  static std::string Text(std::initializer_list<LogField> fields) {
    InitLog(LogLevel::kInfo, LogFormat::kText);
    return WithoutTime(Captured([&] { LogInfo("e", fields); }), 0);
  }
  static std::string Json(std::initializer_list<LogField> fields) {
    InitLog(LogLevel::kInfo, LogFormat::kJson);
    return WithoutTime(Captured([&] { LogInfo("e", fields); }), 7);
  }
};

TEST_F(LogTest, WritesTimeLevelEventAndFields) {
  const std::string line = Captured([] { LogWarn("connection.opened", {{"peer", "127.0.0.1:4242"}, {"id", 3}}); });
  EXPECT_EQ(WithoutTime(line, 0), " warn connection.opened peer=127.0.0.1:4242 id=3\n");
}

// The clock is that of the log. std::time reads a coarser one, which is a few milliseconds late.
std::string UtcSeconds() {
  const std::time_t seconds = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
  char text[32];
  return {text, std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", std::gmtime(&seconds))};
}

TEST_F(LogTest, WritesUtcWhateverTheTimeZone) {
  const char* zone = std::getenv("TZ");
  const std::optional<std::string> previous = zone == nullptr ? std::nullopt : std::optional<std::string>(zone);
  ::setenv("TZ", "XXX-7:30", 1);
  ::tzset();
  const std::string before = UtcSeconds();
  const std::string written = Captured([] { LogInfo("e"); }).substr(0, before.size());
  const std::string after = UtcSeconds();
  previous.has_value() ? ::setenv("TZ", previous->c_str(), 1) : ::unsetenv("TZ");
  ::tzset();
  EXPECT_LE(before, written);
  EXPECT_LE(written, after);
}

TEST_F(LogTest, WritesOneJsonObjectPerLine) {
  EXPECT_EQ(Json({{"peer", "a b"}, {"id", 3}, {"big", ~uint64_t{0}}, {"low", int8_t{-1}}, {"ok", true}}),
            R"({"ts":"","level":"info","event":"e","peer":"a b","id":3,"big":18446744073709551615,"low":-1,"ok":true})"
            "\n");
}

TEST_F(LogTest, TakesSpdlogPatternsInValuesLiterally) {
  EXPECT_EQ(Text({{"v", "%v{}%n"}}), " info e v=%v{}%n\n");
  EXPECT_EQ(Json({{"v", "%v{}%n"}}), "{\"ts\":\"\",\"level\":\"info\",\"event\":\"e\",\"v\":\"%v{}%n\"}\n");
}

TEST_F(LogTest, QuotesValuesThatWouldBreakTheLine) {
  EXPECT_EQ(Text({{"v", ""}}), " info e v=\"\"\n");
  EXPECT_EQ(Text({{"v", "a b"}}), " info e v=\"a b\"\n");
  EXPECT_EQ(Text({{"v", "a=b"}}), " info e v=\"a=b\"\n");
  EXPECT_EQ(Text({{"v", "say \"hi\\\""}}), " info e v=\"say \\\"hi\\\\\\\"\"\n");
  EXPECT_EQ(Text({{"v", "x\n2026 error fake\t\r"}}), " info e v=\"x\\n2026 error fake\\t\\u000d\"\n");
  EXPECT_EQ(Text({{"v", "\x1b[2J\x7f\0"sv}}), " info e v=\"\\u001b[2J\\u007f\\u0000\"\n");
}

TEST_F(LogTest, KeepsUtf8AndReplacesWhatIsNot) {
  EXPECT_EQ(Text({{"v", "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80"}}),
            " info e v=\"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\"\n");
  EXPECT_EQ(Text({{"c1", "\xc2\x9b"}}), " info e c1=\"\\u009b\"\n");
  EXPECT_EQ(Text({{"bidi", "\u202e\u200b"}}), " info e bidi=\"\\u202e\\u200b\"\n");
  EXPECT_EQ(Text({{"cut", "\xe2\x82"}}), " info e cut=\"\\ufffd\\ufffd\"\n");
  EXPECT_EQ(Text({{"overlong", "\xc0\xaf\xe0\x80\x80"}}), " info e overlong=\"\\ufffd\\ufffd\\ufffd\\ufffd\\ufffd\"\n");
  EXPECT_EQ(Text({{"surrogate", "\xed\xa0\x80"}}), " info e surrogate=\"\\ufffd\\ufffd\\ufffd\"\n");
  EXPECT_EQ(Text({{"high", "\xf4\x90\x80\x80"}}), " info e high=\"\\ufffd\\ufffd\\ufffd\\ufffd\"\n");
}

TEST_F(LogTest, CutsLongValues) {
  EXPECT_EQ(Text({{"v", std::string(512, 'x')}}), " info e v=" + std::string(512, 'x') + "\n");
  EXPECT_EQ(Text({{"v", std::string(513, 'x')}}), " info e v=\"" + std::string(512, 'x') + "...\"\n");
}

TEST_F(LogTest, EscapesEventAndKey) {
  const std::string line = Captured([] { LogError("a\nb", {{"c d", 1}}); });
  EXPECT_EQ(WithoutTime(line, 0), " error \"a\\nb\" \"c d\"=1\n");
}

TEST_F(LogTest, DropsLinesBelowTheLevel) {
  EXPECT_FALSE(LogEnabled(LogLevel::kDebug));
  EXPECT_TRUE(LogEnabled(LogLevel::kInfo));
  EXPECT_EQ(Captured([] { LogDebug("hidden"); }), "");
  InitLog(LogLevel::kOff, LogFormat::kText);
  EXPECT_EQ(Captured([] { LogError("hidden"); }), "");
  EXPECT_EQ(Captured([] { Log(LogLevel::kOff, "hidden"); }), "");
}

// A write that blocks would hang in this test for ever.
TEST_F(LogTest, DropsTheLineWhenNobodyReadsThePipe) {
  Pipe pipe;
  ASSERT_EQ(::fcntl(pipe.write_end.get(), F_SETFL, O_NONBLOCK), 0);
  const std::string block(4096, 'x');
  while (::write(pipe.write_end.get(), block.data(), block.size()) > 0) {
  }
  ASSERT_EQ(::fcntl(pipe.write_end.get(), F_SETFL, 0), 0);
  {
    const StderrReplaced replaced(pipe.write_end.get());
    LogInfo("dropped");
  }
  pipe.write_end.Reset();
  EXPECT_EQ(ReadAll(pipe.read_end.get()).find("dropped"), std::string::npos);
}

TEST_F(LogTest, SurvivesAClosedReaderAndAClosedStderr) {
  const auto previous = std::signal(SIGPIPE, SIG_IGN);
  {
    Pipe pipe;
    pipe.read_end.Reset();
    const StderrReplaced replaced(pipe.write_end.get());
    LogInfo("nobody listens");
    ::close(STDERR_FILENO);
    LogInfo("nowhere to write");
  }
  std::signal(SIGPIPE, previous);
  EXPECT_NE(Captured([] { LogInfo("back"); }).find("back"), std::string::npos);
}

TEST_F(LogTest, IsSetByExactlyTheKnownWords) {
  for (const char* level : {"debug", "info", "warn", "error"}) EXPECT_TRUE(InitLog(level, "json")) << level;
  EXPECT_TRUE(LogEnabled(LogLevel::kError));
  EXPECT_FALSE(LogEnabled(LogLevel::kWarn));
  EXPECT_TRUE(InitLog("off", "text"));
  EXPECT_FALSE(LogEnabled(LogLevel::kError));
  EXPECT_FALSE(InitLog("INFO", "text"));
  EXPECT_FALSE(InitLog("", "text"));
  EXPECT_FALSE(InitLog("info", "xml"));
  EXPECT_FALSE(LogEnabled(LogLevel::kError));
}

}  // namespace
}  // namespace holdfast
