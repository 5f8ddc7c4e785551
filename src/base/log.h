// The structured log on stderr. Each line has the name of an event and its fields, as text or as JSON. A value that
// comes from a peer cannot imitate another field or another line: quotes and control characters are escaped.
//
// Logging never fails and never holds up the server: a line that stderr does not accept at once is dropped. The program
// ignores SIGPIPE, so a line for a stderr that is closed is dropped too, and nothing else happens.
#pragma once

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <string_view>
#include <type_traits>
#include <variant>

#include "base/result.h"

namespace holdfast {

enum class LogLevel { kDebug, kInfo, kWarn, kError, kOff };
enum class LogFormat { kText, kJson };

// One field of a log line. It refers to its text without a copy: a field is made for one call to Log and ends with it.
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

// Sets the level and the format of the log. The program calls this once, before other threads log. Without the call the
// level is info and the format is text.
void InitLog(LogLevel level, LogFormat format);

// The same for the values of --log-level (debug, info, warn, error, off) and --log-format (text, json). Fails for any
// other value.
Result<> InitLog(std::string_view level, std::string_view format);

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

}  // namespace holdfast
