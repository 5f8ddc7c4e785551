// The settings of the server as plain values. The table in config_settings.cc gives every member its key, flag, range
// and help text; ConfigFlags (config_flags.h) combines the defaults here with the configuration file and the flags.
#pragma once

#include <cstdint>
#include <string>

namespace holdfast::exec_server {

// A port of the loopback interface that the system chooses.
inline constexpr const char* kDefaultListenUrl = "ws://127.0.0.1:0";

struct Config {
  std::string listen = kDefaultListenUrl;
  std::string url_file = "";
  std::string ws_auth = "auto";
  std::string ws_token_file = "";
  std::string ws_token_sha256 = "";
  std::string ws_shared_secret_file = "";
  std::string ws_issuer = "";
  std::string ws_audience = "";
  uint64_t ws_max_clock_skew_seconds = 30;
  bool insecure_no_auth = false;
  std::string tls_cert = "";
  std::string tls_key = "";
  bool sandbox_check = true;
  std::string sandbox_backend = "auto";
  std::string log_level = "info";
  std::string log_format = "text";

  // A client of 0.169 tries to come back for 45 s when its connection is lost, and then reads what it has missed.
  uint64_t detached_ttl_ms = 80'000;
  uint64_t exited_retention_ms = 80'000;
  uint64_t shutdown_grace_period_ms = 2'000;
  uint64_t ping_interval_ms = 30'000;
  uint64_t exit_when_idle_ms = 0;
  uint64_t approval_timeout_ms = 300'000;
  uint64_t launcher_idle_ms = 10'000;

  uint64_t max_connections = 1024;
  uint64_t max_sessions = 1024;
  uint64_t max_processes_per_session = 256;
  uint64_t max_processes = 4096;
  uint64_t max_inflight = 256;

  uint64_t max_held_bytes = 1 << 30;
  uint64_t max_message_bytes = 64 << 20;
  uint64_t max_frame_bytes = 16 << 20;
  uint64_t max_argv_bytes = 1 << 20;
  uint64_t max_env_bytes = 1 << 20;
  uint64_t retained_output_bytes_per_process = 1 << 20;
  uint64_t retained_chunks_per_process = 50'000;
  uint64_t snapshot_bytes_per_stream = 256 << 10;
  uint64_t max_read_file_bytes = 512 << 20;
  uint64_t max_http_body_bytes = 40 << 20;

  bool allow_direct_exec = true;
  bool allow_prepared_exec = true;

  friend bool operator==(const Config&, const Config&) = default;
};

}  // namespace holdfast::exec_server
