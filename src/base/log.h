// The structured log on stderr: an event name and its fields, one line each, as text or as JSON. Whatever a peer puts
// into a value, it stays inside that value: quotes and control characters are escaped.
//
// Logging never fails and never holds up the server: a line that stderr does not take at once is dropped. The program
// ignores SIGPIPE, so a closed stderr is such a line and no more.
#pragma once

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string_view>
#include <type_traits>
#include <variant>

namespace holdfast {

enum class LogLevel { kDebug, kInfo, kWarn, kError, kOff };
enum class LogFormat { kText, kJson };

// Borrows its text: a field is built inside the call to Log and gone after it.
struct LogField {
  template <std::integral T>
  using Widest =
      std::conditional_t<std::same_as<T, bool>, bool, std::conditional_t<std::signed_integral<T>, int64_t, uint64_t>>;

  LogField(std::string_view name, std::string_view text) : key(name), value(text) {}
  LogField(std::string_view name, std::integral auto number)
      : key(name), value(static_cast<Widest<decltype(number)>>(number)) {}

  std::string_view key;
  std::variant<std::string_view, bool, int64_t, uint64_t> value;
};

// Called once, before other threads log. Without it the level is info and the format text.
void InitLog(LogLevel level, LogFormat format);

bool LogEnabled(LogLevel level) noexcept;
void Log(LogLevel level, std::string_view event, std::initializer_list<LogField> fields = {}) noexcept;

inline void LogDebug(std::string_view event, std::initializer_list<LogField> fields = {}) noexcept {
  Log(LogLevel::kDebug, event, fields);
}
inline void LogInfo(std::string_view event, std::initializer_list<LogField> fields = {}) noexcept {
  Log(LogLevel::kInfo, event, fields);
}
inline void LogWarn(std::string_view event, std::initializer_list<LogField> fields = {}) noexcept {
  Log(LogLevel::kWarn, event, fields);
}
inline void LogError(std::string_view event, std::initializer_list<LogField> fields = {}) noexcept {
  Log(LogLevel::kError, event, fields);
}

// The words of --log-level (debug, info, warn, error, off) and --log-format (text, json).
std::optional<LogLevel> ParseLogLevel(std::string_view word);
std::optional<LogFormat> ParseLogFormat(std::string_view word);

}  // namespace holdfast
