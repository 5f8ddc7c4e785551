#include "exec_server/config/config_settings.h"

#include <algorithm>
#include <array>
#include <ranges>

#include <fmt/format.h>

namespace holdfast::exec_server {
namespace {

constexpr uint64_t kKiB = 1 << 10;
constexpr uint64_t kMiB = 1 << 20;
constexpr uint64_t kGiB = 1 << 30;
constexpr uint64_t kDaySeconds = 24 * 60 * 60;
constexpr uint64_t kDayMs = kDaySeconds * 1000;
constexpr uint64_t kMillion = 1'000'000;

// The table has two parts: where and how the server listens, and how it serves.
constexpr auto kListenSettings = std::to_array<Setting>({
    {"listen", Text{&Config::listen}, "where to listen: ws://IP:PORT, wss://IP:PORT, unix:///PATH or stdio"},
    {"url_file", Text{&Config::url_file},
     "write the URL into this file, which only the server's user can read and no sandbox of the server, instead of to "
     "standard output; it is removed at the end"},
    {"ws_auth", Text{&Config::ws_auth, "auto|url-secret|none|capability-token|signed-bearer-token"},
     "how a WebSocket client is recognized. url-secret: by a secret in the URL; none: only by its user, which must be "
     "the server's user or root; auto: by a secret if the port is 0, otherwise by its user; capability-token: by one "
     "bearer token; signed-bearer-token: by a JWT"},
    {"ws_token_file", Text{&Config::ws_token_file}, "file with the capability token; read again on SIGHUP"},
    {"ws_token_sha256", Text{&Config::ws_token_sha256},
     "SHA-256 digest of the capability token, in 64 hexadecimal digits, instead of its file"},
    {"ws_shared_secret_file", Text{&Config::ws_shared_secret_file},
     "file with the secret of 32 bytes or more that signs JWTs (HS256); read again on SIGHUP"},
    {"ws_issuer", Text{&Config::ws_issuer}, "the issuer (iss) that a JWT must have"},
    {"ws_audience", Text{&Config::ws_audience}, "the audience (aud) that a JWT must be for"},
    {"ws_max_clock_skew_seconds", Number{&Config::ws_max_clock_skew_seconds, 0, kDaySeconds},
     "how long a JWT is accepted before its nbf and after its exp"},
    {"insecure_no_auth", Toggle{&Config::insecure_no_auth},
     "serve other machines, and other users of this one, without authentication"},
    {"tls_cert", Text{&Config::tls_cert},
     "file with the certificate chain of the server, in PEM. With that and the private key the port speaks TLS"},
    {"tls_key", Text{&Config::tls_key}, "file with the private key of tls_cert, in PEM, without a passphrase"},
});

constexpr auto kServiceSettings = std::to_array<Setting>({
    {"sandbox_check", Toggle{&Config::sandbox_check},
     "check at the start whether sandboxes work here, and log warnings if not"},
    {"sandbox_backend", Text{&Config::sandbox_backend, "auto|native|bubblewrap"},
     "what makes the sandboxes: holdfast itself (native) or bubblewrap; auto: native where it works, else bubblewrap"},
    {"log_level", Text{&Config::log_level, "debug|info|warn|error|off"}, "the least severe level that is logged"},
    {"log_format", Text{&Config::log_format, "text|json"}, "the format of log lines"},

    {"detached_ttl_ms", Number{&Config::detached_ttl_ms, 0, kDayMs},
     "how long a session without a connection waits to be resumed; 0 ends it with its connection"},
    {"exited_retention_ms", Number{&Config::exited_retention_ms, 0, kDayMs},
     "how long the output of a closed process can be read"},
    {"shutdown_grace_period_ms", Number{&Config::shutdown_grace_period_ms, 0, kDayMs},
     "time between SIGTERM and SIGKILL when the server stops"},
    {"ping_interval_ms", Number{&Config::ping_interval_ms, 0, kDayMs},
     "time between WebSocket pings; 0 sends no pings"},
    {"exit_when_idle_ms", Number{&Config::exit_when_idle_ms, 0, kDayMs},
     "exit when there was neither a connection nor a living process for this long; 0 waits for ever"},
    {"approval_timeout_ms", Number{&Config::approval_timeout_ms, 1, kDayMs}, "time limit of answers to exec/approve"},
    {"launcher_idle_ms", Number{&Config::launcher_idle_ms, 1, kDayMs},
     "how long the launcher of a policy waits for the next command in a sandbox before it ends"},

    {"max_connections", Number{&Config::max_connections, 1, kMillion}, "most connections at a time"},
    {"max_sessions", Number{&Config::max_sessions, 1, kMillion},
     "most sessions at a time, including those without a connection"},
    // This name is part of the contract with operators, although the limit is that of a session.
    {"max_processes_per_connection", Number{&Config::max_processes_per_session, 1, kMillion},
     "most processes of one session"},
    {"max_processes", Number{&Config::max_processes, 1, kMillion}, "most processes of all sessions together"},
    {"max_inflight", Number{&Config::max_inflight, 1, kMillion},
     "most unanswered requests of one connection; at the limit it is not read"},

    {"max_held_bytes", Number{&Config::max_held_bytes, kMiB, kKiB* kGiB},
     "most memory that all clients together can make the server hold in long messages, answers and HTTP bodies"},
    {"max_message_bytes", Number{&Config::max_message_bytes, kKiB, kGiB},
     "longest message that the server accepts from a client"},
    {"max_frame_bytes", Number{&Config::max_frame_bytes, kKiB, kGiB},
     "longest WebSocket frame that the server accepts"},
    {"max_argv_bytes", Number{&Config::max_argv_bytes, kKiB, kGiB},
     "most bytes in all arguments of a process together"},
    {"max_env_bytes", Number{&Config::max_env_bytes, kKiB, kGiB}, "most bytes in the whole environment of a process"},
    {"retained_output_bytes_per_process", Number{&Config::retained_output_bytes_per_process, kKiB, kGiB},
     "most bytes of output kept for process/read; the oldest is dropped first"},
    {"retained_chunks_per_process", Number{&Config::retained_chunks_per_process, 1, kMillion},
     "most chunks of output kept for process/read; the oldest is dropped first"},
    {"snapshot_bytes_per_stream", Number{&Config::snapshot_bytes_per_stream, kKiB, kGiB},
     "most bytes kept for process/snapshot of each output stream, from its beginning and its end"},
    {"max_read_file_bytes", Number{&Config::max_read_file_bytes, 1, 4 * kGiB}, "longest file that fs/readFile reads"},
    {"max_http_body_bytes", Number{&Config::max_http_body_bytes, 1, kGiB},
     "longest body that http/request returns in one piece"},

    {"allow_direct_exec", Toggle{&Config::allow_direct_exec}, "accept process/start with a plain command"},
    {"allow_prepared_exec", Toggle{&Config::allow_prepared_exec},
     "accept process/start with a request that the client has resolved"},
});

constexpr auto kSettings = [] {
  std::array<Setting, kListenSettings.size() + kServiceSettings.size()> all = {};
  std::ranges::copy(kServiceSettings, std::ranges::copy(kListenSettings, all.begin()).out);
  return all;
}();

template <typename... Cases>
struct Overloaded : Cases... {
  using Cases::operator()...;
};

std::string TomlString(std::string_view text) {
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      quoted.append({'\\', c});
    } else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
      quoted += fmt::format("\\u{:04X}", static_cast<unsigned>(c));
    } else {
      quoted += c;
    }
  }
  return quoted + '"';
}

std::string Written(const SettingValue& value) {
  return std::visit(Overloaded{
                        [](const std::string& text) { return TomlString(text); },
                        [](const OtherType& other) { return std::string(other.name); },
                        [](auto plain) { return fmt::format("{}", plain); },
                    },
                    value);
}

std::unexpected<Error> WrongType(std::string_view expected, const SettingValue& value) {
  return Fail(ErrorKind::kInvalidParams, fmt::format("expected {}, got {}", expected, Written(value)));
}

Result<> AssignTo(const Toggle& toggle, const SettingValue& value, Config& config) {
  const auto* flag = std::get_if<bool>(&value);
  if (flag == nullptr) return WrongType("true or false", value);
  config.*toggle.member = *flag;
  return {};
}

Result<> AssignTo(const Number& number, const SettingValue& value, Config& config) {
  const auto* wanted = std::get_if<int64_t>(&value);
  if (wanted == nullptr) return WrongType("a whole number", value);
  if (std::cmp_less(*wanted, number.min) || std::cmp_greater(*wanted, number.max)) {
    return Fail(ErrorKind::kInvalidParams, fmt::format("{} is not between {} and {}", *wanted, number.min, number.max));
  }
  config.*number.member = static_cast<uint64_t>(*wanted);
  return {};
}

bool IsChoice(std::string_view choices, std::string_view word) {
  return std::ranges::any_of(choices | std::views::split('|'),
                             [word](auto choice) { return std::ranges::equal(choice, word); });
}

Result<> AssignTo(const Text& text, const SettingValue& value, Config& config) {
  const auto* word = std::get_if<std::string>(&value);
  if (word == nullptr) return WrongType("a string", value);
  if (!text.choices.empty() && !IsChoice(text.choices, *word)) {
    return Fail(ErrorKind::kInvalidParams, fmt::format("{} is not one of {}", TomlString(*word), text.choices));
  }
  config.*text.member = *word;
  return {};
}

}  // namespace

std::span<const Setting> ListenSettings() { return kListenSettings; }
std::span<const Setting> Settings() { return kSettings; }

std::string FlagName(const Setting& setting) {
  std::string flag = fmt::format("--{}", setting.key);
  std::ranges::replace(flag, '_', '-');
  return flag;
}

std::string HelpText(const Setting& setting) {
  if (const auto* number = std::get_if<Number>(&setting.kind)) {
    return fmt::format("{} ({}..{})", setting.help, number->min, number->max);
  }
  const auto* text = std::get_if<Text>(&setting.kind);
  if (text != nullptr && !text->choices.empty()) return fmt::format("{} ({})", setting.help, text->choices);
  return std::string(setting.help);
}

Result<> Assign(const Setting& setting, const SettingValue& value, Config& config) {
  return std::visit([&](const auto& kind) { return AssignTo(kind, value, config); }, setting.kind);
}

std::string TomlValue(const Setting& setting, const Config& config) {
  return std::visit(Overloaded{
                        [&](const Text& text) { return TomlString(config.*text.member); },
                        [&](const auto& plain) { return fmt::format("{}", config.*plain.member); },
                    },
                    setting.kind);
}

}  // namespace holdfast::exec_server
