#include "base/log.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include <fmt/format.h>
#include <spdlog/logger.h>
#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/base_sink.h>

#include "base/log_escape.h"

namespace holdfast {
namespace {

constexpr std::array<std::string_view, 5> kLevelNames = {"debug", "info", "warn", "error", "off"};
constexpr std::array<std::string_view, 2> kFormatNames = {"text", "json"};

spdlog::level::level_enum SpdlogLevel(LogLevel level) {
  constexpr std::array levels = {spdlog::level::debug, spdlog::level::info, spdlog::level::warn, spdlog::level::err,
                                 spdlog::level::off};
  return levels[static_cast<size_t>(level)];
}

// The sink that writes log lines to stderr. spdlog's own stderr sink blocks on a full pipe, and the event loop with it:
// a reader that stalls would stop the server. This sink asks first whether stderr accepts a line. Setting O_NONBLOCK is
// not possible, because the open file is shared with the program that started the server.
class StderrSink final : public spdlog::sinks::base_sink<std::mutex> {
 protected:
  void sink_it_(const spdlog::details::log_msg& message) override {
    spdlog::memory_buf_t line;
    formatter_->format(message, line);
    pollfd waiting = {.fd = STDERR_FILENO, .events = POLLOUT, .revents = 0};
    if (::poll(&waiting, 1, 0) != 1 || (waiting.revents & POLLOUT) == 0) return;
    while (::write(STDERR_FILENO, line.data(), line.size()) < 0 && errno == EINTR) {
    }
  }
  void flush_() override {}
};

struct Logger {
  Logger() : spdlog("", std::make_shared<StderrSink>()) {
    // The default handler prints the failure of a sink to stderr, which is the very file that failed.
    spdlog.set_error_handler([](const std::string&) {});
    Configure(LogLevel::kInfo, LogFormat::kText);
  }

  void Configure(LogLevel level, LogFormat line_format) {
    format = line_format;
    const char* pattern =
        format == LogFormat::kJson ? R"({"ts":"%Y-%m-%dT%H:%M:%S.%eZ",%v})" : "%Y-%m-%dT%H:%M:%S.%eZ %v";
    spdlog.set_formatter(
        std::make_unique<spdlog::pattern_formatter>(pattern, spdlog::pattern_time_type::utc, std::string("\n")));
    spdlog.set_level(SpdlogLevel(level));
  }

  spdlog::logger spdlog;
  LogFormat format = LogFormat::kText;
};

// The logger is never destroyed, because destructors of other static objects may still log.
Logger& GlobalLogger() {
  static auto* logger = new Logger();
  return *logger;
}

std::string TextLine(std::string_view level, std::string_view event, std::initializer_list<LogField> fields) {
  std::string line(level);
  line += ' ';
  AppendWord(line, event);
  for (const LogField& field : fields) {
    line += ' ';
    AppendWord(line, field.key);
    line += '=';
    if (const auto* text = std::get_if<std::string_view>(&field.value)) {
      AppendWord(line, *text);
    } else {
      std::visit([&line](auto value) { line += fmt::format("{}", value); }, field.value);
    }
  }
  return line;
}

// Returns the members of the JSON object that follow "ts". The pattern of the formatter has "ts" and the braces.
std::string JsonMembers(std::string_view level, std::string_view event, std::initializer_list<LogField> fields) {
  std::string line = fmt::format(R"("level":"{}","event":)", level);
  AppendQuoted(line, event);
  for (const LogField& field : fields) {
    line += ',';
    AppendQuoted(line, field.key);
    line += ':';
    if (const auto* text = std::get_if<std::string_view>(&field.value)) {
      AppendQuoted(line, *text);
    } else {
      std::visit([&line](auto value) { line += fmt::format("{}", value); }, field.value);
    }
  }
  return line;
}

template <typename Value, size_t N>
std::optional<Value> ValueNamed(const std::array<std::string_view, N>& names, std::string_view word) {
  const auto found = std::ranges::find(names, word);
  if (found == names.end()) return std::nullopt;
  return static_cast<Value>(found - names.begin());
}

}  // namespace

void InitLog(LogLevel level, LogFormat format) { GlobalLogger().Configure(level, format); }

Result<> InitLog(std::string_view level, std::string_view format) {
  const auto known_level = ValueNamed<LogLevel>(kLevelNames, level);
  const auto known_format = ValueNamed<LogFormat>(kFormatNames, format);
  if (!known_level) return Fail(ErrorKind::kInvalidParams, fmt::format("unknown log level {}", level));
  if (!known_format) return Fail(ErrorKind::kInvalidParams, fmt::format("unknown log format {}", format));
  InitLog(*known_level, *known_format);
  return {};
}

bool LogEnabled(LogLevel level) noexcept { return GlobalLogger().spdlog.should_log(SpdlogLevel(level)); }

void Log(LogLevel level, std::string_view event, std::initializer_list<LogField> fields) noexcept {
  if (level == LogLevel::kOff || !LogEnabled(level)) return;
  try {
    Logger& logger = GlobalLogger();
    const std::string_view name = kLevelNames[static_cast<size_t>(level)];
    const std::string line =
        logger.format == LogFormat::kJson ? JsonMembers(name, event, fields) : TextLine(name, event, fields);
    logger.spdlog.log(SpdlogLevel(level), spdlog::string_view_t(line.data(), line.size()));
  } catch (...) {
    // There is no memory for the log line: the line is lost, and the server goes on.
  }
}

}  // namespace holdfast
